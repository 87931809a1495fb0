package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

type color int

const (
	red color = iota + 1
	blue
)

func (k color) MarshalText() ([]byte, error) {
	switch k {
	case red:
		return []byte("red"), nil
	case blue:
		return []byte(`b"lue`), nil
	}
	return nil, fmt.Errorf("color %d has no name", int(k))
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
	Name string   `json:"name"`
	Tags []string `json:"tags,omitzero"`
	Sub  *part    `json:"sub,omitzero"`
}

// everything has a field of each kind.
type everything struct {
	S  string                     `json:"s"`
	I  int                        `json:"i"`
	U  uint64                     `json:"u"`
	F  float64                    `json:"f"`
	B  bool                       `json:"b"`
	R  json.RawMessage            `json:"r"`
	OR json.RawMessage            `json:"or,omitzero"`
	T  time.Time                  `json:"t"`
	OT time.Time                  `json:"ot,omitzero"`
	Y  []byte                     `json:"y,omitzero"`
	SM map[string]string          `json:"sm,omitzero"`
	RM map[string]json.RawMessage `json:"rm,omitzero"`
	K  color                      `json:"k"`
	OK color                      `json:"ok,omitzero"`
	PS []part                     `json:"ps,omitzero"`
	N  any                        `json:"-"`
	part
}

// again is what is read of what is written of e.
func again(e everything) (back everything, err error) {
	doc, err := Marshal(e)
	if err == nil {
		err = json.Unmarshal(doc, &back)
	}
	return back, err
}

func TestExact(t *testing.T) {
	at := time.Date(2026, 7, 25, 10, 0, 0, 123456789, time.UTC)
	full := func() everything {
		p := part{Name: "a", Tags: []string{"x", "", "\u2028"}, Sub: &part{Name: "b"}}
		return everything{S: "é\"\\\n\x01/<&>😀", I: math.MinInt, U: math.MaxUint64, F: 1e-7, B: true, R: json.RawMessage(`{"a":[1.0,"x y"]}`), OR: json.RawMessage(`null`),
			T: at, OT: at, Y: []byte{0, 255}, SM: map[string]string{"": "", "é\n": "\t"}, RM: map[string]json.RawMessage{"a": json.RawMessage(`[1]`)}, K: red, OK: blue, PS: []part{p, {}}, part: p}
	}
	for name, change := range map[string]func(*everything){
		"":                         func(*everything) {},
		"text that is not UTF-8":   func(e *everything) { e.PS[0].Sub.Name = "\xff" },
		"a key that is not UTF-8":  func(e *everything) { e.SM = map[string]string{"\xff": ""} },
		"white space in JSON":      func(e *everything) { e.R = json.RawMessage(`{ }`) },
		"no JSON where it must be": func(e *everything) { e.R = nil },
		"no JSON in a map":         func(e *everything) { e.RM["b"] = nil },
		"no JSON at all":           func(e *everything) { e.OR = json.RawMessage(`{`) },
		"a clock":                  func(e *everything) { e.OT = time.Now() },
		"a year":                   func(e *everything) { e.T = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"an infinity":              func(e *everything) { e.F = math.Inf(1) },
		"a color without name":     func(e *everything) { e.OK = 3 },
		"no color":                 func(e *everything) { e.K = 0 },
	} {
		e := full()
		change(&e)
		back, err := again(e)
		if same := err == nil && reflect.DeepEqual(e, back); same != (name == "") || Exact(e, 0) != same {
			t.Errorf("%q: exact %v, read the same %v (%v)", name, Exact(e, 0), same, err)
		}
	}
	deep := everything{K: red, R: json.RawMessage(strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1))}
	if !Exact(deep, 0) || Exact(deep, 1) {
		t.Error("the depth around a value does not count")
	}
}

// FuzzExact: what is exact is read as it was.
func FuzzExact(f *testing.F) {
	f.Add("a\xff\n", 1, uint64(2), 0.1, int64(1e18), []byte(` {"a" : 1}`), "k", 1)
	f.Add("😀\ud7ff", math.MinInt, uint64(math.MaxUint64), math.Copysign(0, -1), int64(-1), []byte(`null`), "", 0)
	f.Fuzz(func(t *testing.T, s string, i int, u uint64, x float64, ns int64, raw []byte, key string, k int) {
		e := everything{S: s, I: i, U: u, F: x, R: raw, OR: raw, T: time.Unix(0, ns).UTC(), OT: time.Unix(ns%1e10, 0).UTC(), Y: raw,
			SM: map[string]string{key: s, s: key}, RM: map[string]json.RawMessage{s: raw}, K: red, OK: color(k), PS: []part{{Name: key, Tags: []string{s}}}, part: part{Name: s}}
		back, err := again(e)
		if same := err == nil && reflect.DeepEqual(e, back); Exact(e, 0) && !same {
			t.Fatalf("%+v is read as %+v (%v)", e, back, err)
		}
	})
}

func TestDurations(t *testing.T) {
	type both struct {
		M Millis `json:"m"`
		P Period `json:"p"`
	}
	doc, err := Marshal(both{Millis(1500*time.Millisecond + 1), Period(90 * time.Second)})
	if err != nil || string(doc) != `{"m":1500,"p":"1m30s"}` {
		t.Errorf("%s, %v", doc, err)
	}
	var b both
	if err := json.Unmarshal([]byte(`{"m":2,"p":"2h"}`), &b); err != nil || b != (both{Millis(2 * time.Millisecond), Period(2 * time.Hour)}) {
		t.Errorf("%v, %v", b, err)
	}
	for _, bad := range []string{`{"m":"1s"}`, `{"m":1.5}`, `{"p":1}`, `{"p":"soon"}`} {
		if json.Unmarshal([]byte(bad), &b) == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestFaults(t *testing.T) {
	for in, want := range map[string]string{
		``:             `unexpected end of JSON input at offset 0`,
		`[1`:           `unexpected end of JSON input at offset 2`,
		`{"s":"x"} x`:  `invalid character 'x' after top-level value at offset 10`,
		`{"s":"x",}`:   `invalid character '}' looking for beginning of object key string at offset 9`,
		`{"zz":tru}`:   `invalid character '}' in literal true (expecting 'e') at offset 9`,
		`{"zz":tr`:     `unexpected end of JSON input at offset 8`,
		`{"zz":"\`:     `unexpected end of JSON input at offset 8`,
		`{"zz":[1 2]}`: `invalid character '2' after array element at offset 9`,
		strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1): `nested deeper than 1000 objects and arrays at offset 1000`,
	} {
		err := Check([]byte(in), 0)
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != want {
			t.Errorf("%.40s\n got %v\nwant %s", in, err, want)
		}
	}
}
