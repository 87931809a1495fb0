package wire

import (
	"encoding/json"
	"math"
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

func FuzzAccepts(f *testing.F) {
	e := full()
	s, _ := encode(&e)
	for _, s := range []string{s, ``, `{}`, ` {"a":[1,-0.5e+7,"\ud83d\ude00\n"],"b":{"c":null}} `, `{"a":1,}`, `{"a":01}`, "{\"\xff\":1}",
		`{"a":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c := NewDecoder(doc)
		_, err := c.Done()
		valid := json.Valid(doc)
		object := valid && strings.TrimLeft(string(doc), " \t\r\n")[0] == '{'
		if want := object && nesting(doc) <= MaxDepth; (err == nil) != want {
			t.Fatalf("err %v, valid %v, object %v", err, valid, object)
		}
		if err != nil && !valid && strings.Contains(err.Error(), "want an object") {
			t.Fatalf("malformed, yet reported as %v", err)
		}

		// As a raw message: the same acceptance, and compacted alike.
		raw := json.RawMessage(doc)
		c = NewEncoder(nil)
		c.Raw("r", &raw)
		out, err := c.Done()
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

// FuzzValues reads each field again with encoding/json, from a map of the
// members so that of equal keys the last counts and case matters.
func FuzzValues(f *testing.F) {
	e := full()
	s, _ := encode(&e)
	f.Add([]byte(s))
	f.Add([]byte(`{"i":1e2,"s":"\ud83d","f":-0,"u":18446744073709551616,"ss":[null,"\u0000"],"sm":{"a":null,"\u0061":"b"}}`))
	f.Add([]byte(`{"s":1,"i":" ","f":1e999,"b":0,"t":"2026-02-30T00:00:00Z","\u0069":12,"r": [ 1 ] }`))
	f.Add([]byte(`{"p":{"name":"a","name":"b","sub":{"sub":{"i":1}}},"x":{"p":{}},"p":{"sub":{"\u0073ub":{"i":2,"\u0069":3}},"name":"c"}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var twin map[string]json.RawMessage
		if json.Unmarshal(doc, &twin) != nil || twin == nil || nesting(doc) > MaxDepth {
			return
		}
		for name := range twin {
			if !utf8.ValidString(name) || strings.Contains(name, "\uFFFD") {
				return
			}
		}
		check := func(name string, got, want any, field func(*Coder)) {
			t.Helper()
			raw := twin[name]
			if raw == nil {
				raw = json.RawMessage("null")
			}
			wantErr := json.Unmarshal(raw, want)
			c := NewDecoder(doc)
			field(c)
			_, gotErr := c.Done()
			if (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("%s %s: got %v, encoding/json %v", name, raw, gotErr, wantErr)
			}
			if gotErr == nil {
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("%s %s (-want +got):\n%s", name, raw, d)
				}
			}
		}
		var g, w everything
		check("s", &g.S, &w.S, func(c *Coder) { c.String("s", &g.S) })
		check("i", &g.I, &w.I, func(c *Coder) { c.Int("i", &g.I) })
		check("u", &g.U, &w.U, func(c *Coder) { c.Uint64("u", &g.U) })
		check("f", &g.F, &w.F, func(c *Coder) { c.Float("f", &g.F) })
		check("b", &g.B, &w.B, func(c *Coder) { c.OptBool("b", &g.B) })
		if r := twin["r"]; r != nil && string(r) != "null" {
			check("r", &g.R, &w.R, func(c *Coder) { c.Raw("r", &g.R) })
		}
		// Objects in objects, kept at the first scan and not.
		twin["name"] = within(twin, "p", "name")
		check("name", &g.P.Name, &w.P.Name, func(c *Coder) { c.Object("p", func(c *Coder) { c.String("name", &g.P.Name) }) })
		twin["deep"] = within(twin, "p", "sub", "sub", "i")
		check("deep", &g.OI, &w.OI, func(c *Coder) {
			c.Object("p", func(c *Coder) {
				c.Object("sub", func(c *Coder) {
					c.Object("sub", func(c *Coder) { c.Int("i", &g.OI) })
					c.Object("sub", func(c *Coder) { c.Int("i", &g.OI) })
				})
			})
		})
		check("ss", &g.SS, &w.SS, func(c *Coder) { c.Strings("ss", &g.SS) })
		check("sm", &g.SM, &w.SM, func(c *Coder) { c.StringMap("sm", &g.SM) })
	})
}

// within follows a path of keys the way encoding/json decodes maps, a wrong type
// becoming the fault that it is.
func within(m map[string]json.RawMessage, path ...string) json.RawMessage {
	for i, key := range path {
		raw := m[key]
		if raw == nil || i == len(path)-1 || string(raw) == "null" {
			return raw
		}
		m = nil
		if json.Unmarshal(raw, &m) != nil {
			return json.RawMessage(`[]`) // suits neither field
		}
	}
	return nil
}

// FuzzRoundTrip: what was read from what was written is written the same.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a\xff\n", int64(1), uint64(2), 0.1, int64(1e18), []byte(` {"a" : 1}`), "k", true)
	f.Add("😀\ud7ff", int64(math.MinInt64), uint64(math.MaxUint64), math.Copysign(0, -1), int64(-1), []byte(`null`), "", false)
	f.Fuzz(func(t *testing.T, s string, l int64, u uint64, x float64, ns int64, raw []byte, key string, b bool) {
		e := everything{S: s, OS: s, L: l, OL: l, I: int(l), U: u, OU: u, F: x, OF: x, B: b, OB: b, R: raw, OR: raw,
			T: time.Unix(0, ns), OT: time.Unix(ns%1e10, 0), OD: time.Duration(ns), M: time.Duration(ns), OM: time.Duration(ns),
			SS: []string{s, key}, OSS: strings.Split(s, "a"), SM: map[string]string{key: s, s: key}, N: x, NV: b, ON: x, ONV: b,
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
		again, err := encode(&back)
		if err != nil || again != first {
			t.Fatalf("%v\n got %s\nwant %s", err, again, first)
		}
		if want := strings.ToValidUTF8(s, ""); want == s && back.S != s || back.L != l || back.U != u || back.F != x && x == x {
			t.Fatalf("read %+v", back)
		}
	})
}
