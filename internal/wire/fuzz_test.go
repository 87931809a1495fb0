package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// nesting counts the deepest nesting of valid JSON the naive way.
func nesting(doc []byte) (most int) {
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	for depth := 0; ; {
		tok, err := dec.Token()
		if err != nil {
			return most
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
			most = max(most, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

type holder struct {
	R json.RawMessage `wire:"r"`
}

var rawCodec = Of(holder{})

func FuzzAccepts(f *testing.F) {
	e := full()
	s, _ := encode(&e)
	for _, s := range []string{s, ``, `{}`, `{"r":"\u"}`, ` {"a":[1,-0.5e+7,"\ud83d\ude00\n"],"b":{"c":null}} `, `{"a":1,}`, `{"a":01}`, "{\"\xff\":1}",
		`{"a":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		_, err := rawCodec.Decode(doc)
		valid := json.Valid(doc)
		object := valid && strings.TrimLeft(string(doc), " \t\r\n")[0] == '{'
		if want := object && nesting(doc) <= MaxDepth; (err == nil) != want {
			t.Fatalf("err %v, valid %v, object %v", err, valid, object)
		}

		// As a raw message: the same acceptance, and compacted alike.
		out, err := rawCodec.Append(nil, &holder{doc}, 0)
		if len(doc) > 0 && (err == nil) != (valid && nesting(doc) < MaxDepth) {
			t.Fatalf("raw: err %v, valid %v", err, valid)
		}
		if err == nil && len(doc) > 0 {
			if want := `{"r":` + compact(doc) + `}`; string(out) != want {
				t.Fatalf("raw: got %s, want %s", out, want)
			}
		}
	})
}

func compact(doc []byte) string {
	var b strings.Builder
	inside, skip := false, false
	for _, ch := range doc {
		switch {
		case skip:
			skip = false
		case inside && ch == '\\':
			skip = true
		case ch == '"':
			inside = !inside
		case !inside && strings.IndexByte(" \t\r\n", ch) >= 0:
			continue
		}
		b.WriteByte(ch)
	}
	return b.String()
}

// values has the names under which encoding/json reads the same.
type values struct {
	S  string            `wire:"s" json:"s"`
	I  int               `wire:"i" json:"i"`
	U  uint64            `wire:"u" json:"u"`
	F  float64           `wire:"f" json:"f"`
	B  bool              `wire:"b" json:"b"`
	P  *values           `wire:"p" json:"p"`
	PS []values          `wire:"ps" json:"ps"`
	SS []string          `wire:"ss" json:"ss"`
	SM map[string]string `wire:"sm" json:"sm"`
}

var valuesCodec = Of(values{})

// FuzzValues reads each document again with encoding/json.
func FuzzValues(f *testing.F) {
	e := full()
	s, _ := encode(&e)
	f.Add([]byte(s))
	f.Add([]byte(`{"i":1e2,"s":"\ud83d","f":-0,"u":18446744073709551616,"ss":[null,"\u0000"],"sm":{"a":null,"\u0061":"b"}}`))
	f.Add([]byte(`{"s":1,"i":" ","f":1e999,"b":0,"t":"2026-02-30T00:00:00Z","\u0069":12,"r": [ 1 ] }`))
	f.Add([]byte(`{"p":{"s":"a","s":"b","p":{"p":{"i":1}}},"x":{"p":{}},"ps":[{"p":{"\u0070":{"i":2,"\u0069":3}},"s":"c"},null]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var names map[string]json.RawMessage
		if json.Unmarshal(doc, &names) != nil || names == nil || nesting(doc) > MaxDepth || odd(doc) {
			return
		}
		var want values
		wantErr := json.Unmarshal(doc, &want)
		got, err := valuesCodec.Decode(doc)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("got %v, encoding/json %v", err, wantErr)
		}
		if err == nil {
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%s (-want +got):\n%s", doc, d)
			}
		}
	})
}

// odd reports whether a key of the document is one that encoding/json deals with
// otherwise: it takes keys for equal that differ in case, and reads a second
// value of a key into the first.
func odd(doc []byte) bool {
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	var find func() bool
	find = func() bool {
		tok, err := dec.Token()
		if err != nil {
			return true
		}
		seen := map[string]bool{}
		switch tok {
		case json.Delim('{'):
			for dec.More() {
				key, err := dec.Token()
				if err != nil {
					return true
				}
				name := strings.ToLower(key.(string))
				if seen[name] || name != key || strings.ContainsAny(name, "\uFFFD\u017f") || find() {
					return true
				}
				seen[name] = true
			}
			_, err = dec.Token()
		case json.Delim('['):
			for dec.More() {
				if find() {
					return true
				}
			}
			_, err = dec.Token()
		case nil:
			return false
		}
		return err != nil
	}
	return find()
}

// FuzzRoundTrip: what was read from what was written is written the same.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a\xff\n", int64(1), uint64(2), 0.1, int64(1e18), []byte(` {"a" : 1}`), "k", true)
	f.Add("😀\ud7ff", int64(math.MinInt64), uint64(math.MaxUint64), math.Copysign(0, -1), int64(-1), []byte(`null`), "", false)
	f.Fuzz(func(t *testing.T, s string, l int64, u uint64, x float64, ns int64, raw []byte, key string, b bool) {
		e := everything{S: s, OS: s, L: l, OL: l, I: int(l), U: u, OU: u, F: x, OF: x, B: b, OB: b, R: raw, OR: raw,
			T: time.Unix(0, ns), OT: time.Unix(ns%1e10, 0), OD: time.Duration(ns), M: time.Duration(ns), OM: time.Duration(ns),
			SS: []string{s, key}, OSS: strings.Split(s, "a"), SM: map[string]string{key: s, s: key}, N: x, NV: b, W: b, Y: raw, RM: map[string]json.RawMessage{s: raw, key: nil}, OP: optional{Tags: []string{s}},
			K: red, P: part{Name: s, Tags: []string{key}}, PS: []part{{Name: key}, {}}}
		first, err := encode(&e)
		if err != nil {
			return
		}
		if !json.Valid([]byte(first)) || !utf8.ValidString(strings.ReplaceAll(first, string(raw), "")) && utf8.Valid(raw) {
			t.Fatalf("not JSON: %q", first)
		}
		back, err := decode(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		same := reflect.DeepEqual(e, back)
		if canonical := codec.Canonical(e, 0); canonical && !same || same && !canonical {
			t.Fatalf("canonical: %v, the same: %v: %s", canonical, same, first)
		}
		if !codec.Canonical(back, 0) {
			t.Fatalf("what was read is not canonical: %s", first)
		}
		again, err := encode(&back)
		if err != nil || again != first {
			t.Fatalf("%v\n got %s\nwant %s", err, again, first)
		}
		if want := strings.ToValidUTF8(s, ""); want == s && back.S != s || back.L != l || back.U != u || back.F != x && x == x {
			t.Fatalf("read %+v", back)
		}
	})
}
