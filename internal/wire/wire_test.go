package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type color int

const (
	red color = iota + 1
	blue
)

func (k color) MarshalText() ([]byte, error) { return k.AppendText(nil) }

func (k color) AppendText(b []byte) ([]byte, error) {
	switch k {
	case red:
		return append(b, "red"...), nil
	case blue:
		return append(b, `b"lue`...), nil // needs escaping
	}
	return b, fmt.Errorf("color %d has no name", int(k))
}

func (k *color) UnmarshalText(b []byte) error {
	switch string(b) {
	case "red":
		*k = red
	case `b"lue`:
		*k = blue
	default:
		return fmt.Errorf("no color %q", b)
	}
	return nil
}

type part struct {
	Name string   `wire:"name"`
	Tags []string `wire:"tags,omit"`
	Sub  *part    `wire:"sub,omit"`
}

type optional struct {
	Name string   `wire:"name,omit"`
	Tags []string `wire:"tags,omit"`
}

type inner struct {
	IN string `wire:"in"`
}

// everything has a field of each kind, once required and once optional.
type everything struct {
	S   string                     `wire:"s"`
	OS  string                     `wire:"os,omit"`
	I   int                        `wire:"i"`
	OI  int                        `wire:"oi,omit"`
	L   int64                      `wire:"l"`
	OL  int64                      `wire:"ol,omit"`
	U   uint64                     `wire:"u"`
	OU  uint64                     `wire:"ou,omit"`
	F   float64                    `wire:"f"`
	OF  float64                    `wire:"of,omit"`
	B   bool                       `wire:"b"`
	OB  bool                       `wire:"ob,omit"`
	W   bool                       `wire:"w,yes|no"`
	R   json.RawMessage            `wire:"r"`
	OR  json.RawMessage            `wire:"or,omit"`
	T   time.Time                  `wire:"t"`
	OT  time.Time                  `wire:"ot,omit"`
	OD  time.Duration              `wire:"od,omit"`
	M   time.Duration              `wire:"m,ms"`
	OM  time.Duration              `wire:"om,ms,omit"`
	Y   []byte                     `wire:"y"`
	SS  []string                   `wire:"ss"`
	OSS []string                   `wire:"oss,omit"`
	SM  map[string]string          `wire:"sm"`
	OSM map[string]string          `wire:"osm,omit"`
	RM  map[string]json.RawMessage `wire:"rm,omit"`
	N   float64                    `wire:"n,known=NV"`
	NV  bool                       `wire:"-"`
	K   color                      `wire:"k"`
	OK  color                      `wire:"ok,omit"`
	P   part                       `wire:"p"`
	OP  optional                   `wire:"op,omit"`
	PS  []part                     `wire:"ps"`
	OPS []part                     `wire:"ops,omit"`
	In  inner                      `wire:",inline"`
}

var codec = Of(everything{})

func encode(e *everything) (string, error) {
	b, err := codec.Append(nil, e, 0)
	return string(b), err
}

func decode(s string) (everything, error) {
	v, err := codec.Decode([]byte(s))
	e, _ := v.(everything)
	return e, err
}

func full() everything {
	at := time.Date(2026, 7, 25, 10, 0, 0, 123456789, time.UTC)
	p := part{Name: "a", Tags: []string{"x", "", "\u2028"}, Sub: &part{Name: "b"}}
	return everything{
		S: "é\"\\\n\x01/<&>", OS: "😀", I: -1, OI: math.MaxInt, L: math.MinInt64, OL: 7, U: math.MaxUint64, OU: 1,
		F: 0.1, OF: 1e-7, B: true, OB: true, R: json.RawMessage(`{"a":[1.0,"x y"]}`), OR: json.RawMessage(`null`),
		T: at, OT: at.Truncate(time.Second), OD: time.Hour, M: 1500 * time.Millisecond, OM: time.Millisecond,
		SS: []string{"a"}, OSS: []string{"b", "c"}, SM: map[string]string{"b": "2", "a": "1", "é\n": "\t"},
		OSM: map[string]string{"": ""}, N: 2, NV: true, K: red, OK: blue, W: true, Y: []byte{0, 255},
		RM: map[string]json.RawMessage{"z": nil, "a": json.RawMessage(`[1]`)},
		P:  p, OP: optional{Name: "c"}, PS: []part{p, {}}, OPS: []part{{Name: "z"}}, In: inner{"side"},
	}
}

func TestWritten(t *testing.T) {
	zero := everything{K: red}
	got, err := encode(&zero)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"s":"","i":0,"l":0,"u":0,"f":0,"b":false,"w":"no","r":null,"t":null,"m":0,` +
		`"y":"","ss":[],"sm":{},"n":null,"k":"red","p":{"name":""},"ps":[],"in":""}`
	if got != want {
		t.Errorf("zero value\n got %s\nwant %s", got, want)
	}
	e := full()
	got, err = encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	want = `{"s":"é\"\\\n\u0001/<&>","os":"😀","i":-1,"oi":9223372036854775807,"l":-9223372036854775808,"ol":7,` +
		`"u":18446744073709551615,"ou":1,"f":0.1,"of":0.0000001,"b":true,"ob":true,"w":"yes","r":{"a":[1.0,"x y"]},"or":null,` +
		`"t":"2026-07-25T10:00:00.123456789Z","ot":"2026-07-25T10:00:00Z","od":"1h0m0s","m":1500,"om":1,` +
		`"y":"AP8=","ss":["a"],"oss":["b","c"],"sm":{"a":"1","b":"2","é\n":"\t"},"osm":{"":""},"rm":[{"name":"a","value":[1]},{"name":"z","value":null}],"n":2,"k":"red","ok":"b\"lue",` +
		`"p":{"name":"a","tags":["x","","` + "\u2028" + `"],"sub":{"name":"b"}},"op":{"name":"c"},` +
		`"ps":[{"name":"a","tags":["x","","` + "\u2028" + `"],"sub":{"name":"b"}},{"name":""}],"ops":[{"name":"z"}],"in":"side"}`
	if got != want {
		t.Errorf("full value\n got %s\nwant %s", got, want)
	}
	back, err := decode(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, back); d != "" {
		t.Errorf("did not survive (-want +got):\n%s", d)
	}
}

func TestReplaced(t *testing.T) {
	e := everything{K: red, S: "a\xff\xfeb", SM: map[string]string{"\xff": "1", "\xfe": "2", "ok": "\xed\xa0\x80"},
		R: json.RawMessage(" [ 1 , \"a b\" ,{ } ]\n"), M: 999999, OM: 999999,
		T: time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))}
	first, err := encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"a` + "\uFFFD\uFFFD" + `b"`, `"sm":{"ok":"` + "\uFFFD\uFFFD\uFFFD" + `","` + "\uFFFD" + `":"1"}`,
		`"r":[1,"a b",{}]`, `"m":0`, `"t":"2026-01-01T00:00:00Z"`} {
		if !strings.Contains(first, part) {
			t.Errorf("no %s in %s", part, first)
		}
	}
	back, err := decode(first)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := encode(&back); err != nil || again != first {
		t.Errorf("a second time (%v)\n got %s\nwant %s", err, again, first)
	}
}

func TestRead(t *testing.T) {
	for _, in := range []string{
		`{"i":2,"s":"x"}`,
		`{"s":"x","i":2}`,
		" {\n\"i\" :\t2 , \"s\" : \"x\"\r} ",
		`{"i":1,"i":2,"s":"y","s":"x"}`,
		`{"\u0073":"x","\u0069":2}`,
		`{"s":"y","\u0073":"x","i":2}`,
		`{"what":{"s":[1,{"i":7}]},"s":"\u0078","else":"\ud83d\ude00","i":2,"S":"no"}`,
		`{"i":2,"s":"x","p":null,"k":null,"ps":null,"sm":null,"t":null,"n":null,"r":null,"b":null,"u":null,"f":null}`,
	} {
		got, err := decode(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if d := cmp.Diff(everything{S: "x", I: 2}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", in, d)
		}
	}
	for in, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", `"\ud83d\u0041"`: "\uFFFDA", `"\ude00\ud83d\ude00"`: "\uFFFD😀",
		"\"\xff\xc3\"": "\uFFFD\uFFFD", `"\b\f\n\r\t\/\\\""`: "\b\f\n\r\t/\\\"", `"\u00e9é\u0000"`: "éé\x00",
	} {
		got, err := decode(`{"s":` + in + `}`)
		if err != nil || got.S != want {
			t.Errorf("%s is read as %q (%v), want %q", in, got.S, err, want)
		}
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"s":"first"`)
	for i := range 200 {
		fmt.Fprintf(&b, `,"key%d":%d`, i, i)
	}
	got, err := decode(b.String() + `,"s":"last","i":3}`)
	if err != nil || got.S != "last" || got.I != 3 {
		t.Errorf("read %q, %d (%v)", got.S, got.I, err)
	}
}

func TestFaults(t *testing.T) {
	for in, want := range map[string]string{
		``:                                  `unexpected end of JSON at offset 0`,
		`null`:                              `want an object, found null at offset 0`,
		` [1]`:                              `want an object, found an array at offset 1`,
		`[1`:                                `unexpected end of JSON at offset 2`,
		`{"s":"x"} x`:                       `unexpected text after the JSON value at offset 10`,
		`{"s":"x",}`:                        `want a key in quotes at offset 9`,
		`{"i":01}`:                          `want a comma or } after a value at offset 6`,
		`{"s" "x"}`:                         `want a colon after a key at offset 5`,
		`{"zz":tru}`:                        `want true at offset 9`,
		`{"zz":1.}`:                         `want a digit at offset 8`,
		`{"zz":[1 2]}`:                      `want a comma or ] after an element at offset 9`,
		"{\"zz\":\"a\nb\"}":                 `a control character in a string must be escaped at offset 8`,
		`{"zz":"\x"}`:                       `unknown escape in a string at offset 8`,
		`{"zz":"\u00g0"}`:                   `want four hexadecimal digits after \u at offset 8`,
		`{"zz":nil}`:                        `want null at offset 7`,
		`{"zz":-a}`:                         `want a digit at offset 7`,
		`{"zz":1e+x}`:                       `want a digit at offset 9`,
		`{"zz`:                              `unexpected end of JSON at offset 4`,
		`{"zz":"\`:                          `unexpected end of JSON at offset 8`,
		`{"zz":"\u00`:                       `unexpected end of JSON at offset 11`,
		`{"zz":"\u"}`:                       `unexpected end of JSON at offset 11`,
		`{"s":1}`:                           `field "s": want a string, found a number at offset 5`,
		`{"i":1.0}`:                         `field "i": want an integer in range, found 1.0 at offset 5`,
		`{"l":9223372036854775808}`:         `field "l": want an integer in range, found 9223372036854775808 at offset 5`,
		`{"u":-1}`:                          `field "u": want an integer in range, found -1 at offset 5`,
		`{"f":1e999}`:                       `field "f": want a number in the range of a float64, found 1e999 at offset 5`,
		`{"b":"true"}`:                      `field "b": want a boolean, found a string at offset 5`,
		`{"ss":["a",2]}`:                    `field "ss[1]": want a string, found a number at offset 11`,
		`{"sm":{"a":[]}}`:                   `field "sm.a": want a string, found an array at offset 11`,
		`{"n":{}}`:                          `field "n": want a number, found an object at offset 5`,
		`{"k":"green"}`:                     `field "k": no color "green"`,
		`{"m":9223372036854776}`:            `field "m": want an integer in range, found 9223372036854776 at offset 5`,
		`{"t":"9999-12-31T23:59:59-01:00"}`: `field "t": the year of a time must be between 0 and 9999 in UTC at offset 5`,
		`{"p":[]}`:                          `field "p": want an object, found an array at offset 5`,
		`{"p":{"sub":{"tags":[true]}}}`:     `field "p.sub.tags[0]": want a string, found a boolean at offset 21`,
		`{"ps":[{},{"name":null},{"name":false}]}`: `field "ps[2].name": want a string, found a boolean at offset 32`,
		`{"ps":[7]}`: `field "ps[0]": want an object, found a number at offset 7`,
	} {
		_, err := decode(in)
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
	var e *Error
	if _, err := decode(`{"p":{"name":1}}`); !errors.As(err, &e) || e.Field != "p.name" || e.Offset != 13 {
		t.Errorf("got %#v", e)
	}
}

func TestUnwritable(t *testing.T) {
	deep := json.RawMessage(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))
	for want, e := range map[string]everything{
		`field "f": a number must be finite, JSON has no NaN and no infinity`:                              {F: math.NaN(), K: red},
		`field "n": a number must be finite, JSON has no NaN and no infinity`:                              {N: math.Inf(1), NV: true, K: red},
		`field "t": the year of a time must be between 0 and 9999 in UTC`:                                  {T: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), K: red},
		`field "k": color 0 has no name`:                                                                   {},
		`field "r": the raw message is not JSON: unexpected text after the JSON value at offset 2`:         {R: json.RawMessage(`1 2`), K: red},
		`field "or": the raw message is not JSON: unexpected end of JSON at offset 1`:                      {OR: json.RawMessage(`{`), K: red},
		`field "r": the raw message is not JSON: nested deeper than 1000 objects and arrays at offset 999`: {R: deep, K: red},
	} {
		b, err := codec.Append([]byte("before"), e, 0)
		if err == nil || err.Error() != want || string(b) != "before" {
			t.Errorf("got %q, %v\nwant %s", b, err, want)
		}
	}
}

func TestDepth(t *testing.T) {
	fits := json.RawMessage(strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1))
	s, err := encode(&everything{R: fits, K: red})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(s); err != nil {
		t.Error(err)
	}
	if _, err := decode(`{"r":[` + string(fits) + `]}`); err == nil {
		t.Error("nesting of 1001 was accepted")
	}
	var chain func(n int) *part
	chain = func(n int) *part {
		if n == 0 {
			return nil
		}
		return &part{Sub: chain(n - 1)}
	}
	if s, err = encode(&everything{P: *chain(MaxDepth - 1), K: red}); err != nil {
		t.Error(err)
	} else if _, err := decode(s); err != nil {
		t.Error(err)
	}
	if _, err = encode(&everything{P: *chain(MaxDepth), K: red}); err == nil || !strings.HasSuffix(err.Error(), TooDeep) {
		t.Errorf("objects nested 1001 deep: %.40v", err)
	}
}

// TestCompile: what no codec can be made of is said at once.
func TestCompile(t *testing.T) {
	for want, compile := range map[string]func(){
		"wire: field A of struct { A int } has no tag": func() { Of(struct{ A int }{}) },
		`wire: field A of struct { A int "wire:\"a,opt\"" } has the unknown option "opt"`: func() {
			Of(struct {
				A int `wire:"a,opt"`
			}{})
		},
		"wire: no field can be a chan int": func() {
			Of(struct {
				A chan int `wire:"a"`
				B int      `wire:"b"`
			}{})
		},
		"wire: int is no struct, or one of a lone pointer": func() { Of(0) },
		"wire: struct { A map[string]string \"wire:\\\"a\\\"\" } is no struct, or one of a lone pointer": func() {
			Of(struct {
				A map[string]string `wire:"a"`
			}{})
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v\nwant %s", got, want)
				}
			}()
			compile()
		}()
	}
	if _, err := codec.Append(nil, part{}, 0); err == nil || err.Error() != "want a wire.everything, found a wire.part" {
		t.Error(err)
	}
	if _, err := codec.Append(nil, (*everything)(nil), 0); err == nil {
		t.Error("a nil pointer was written")
	}
}

// TestRawApart: appending to what was read must not reach the input.
func TestRawApart(t *testing.T) {
	in := []byte(`{"r":[1],"i":2}`)
	before := slices.Clone(in)
	v, err := codec.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	e := v.(everything)
	_ = append(e.R, "xxx"...)
	if string(in) != string(before) {
		t.Errorf("the input became %s", in)
	}
}
