package wire

import (
	"encoding/json"
	"strings"
	"testing"
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
	for _, s := range []string{``, `{}`, `{"r":"\u"}`, ` {"a":[1,-0.5e+7,"\ud83d\ude00\n"],"b":{"c":null}} `, `{"a":1,}`, `{"a":01}`, "{\"\xff\":1}",
		`{"a":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		valid := json.Valid(doc)
		if err := Check(doc, 0); (err == nil) != (valid && nesting(doc) <= MaxDepth) {
			t.Fatalf("err %v, valid %v", err, valid)
		}
		if got, want := string(Compact(doc)), compact(doc); valid && got != want {
			t.Fatalf("got %s, want %s", got, want)
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
