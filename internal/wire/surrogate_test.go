package wire

import (
	"encoding/json"
	"testing"
)

func TestPair(t *testing.T) {
	for in, want := range map[string]string{
		`"\u00e9 \ud83d\ude00"`:       `"\u00e9 \ud83d\ude00"`,
		`"\ude00\ud83d"`:              `"\ufffd\ufffd"`,
		`"\ud83d\ud83d\ude00"`:        `"\ufffd\ud83d\ude00"`,
		`"\\\ud83d\n"`:                `"\\\ufffd\n"`,
		`{"\uD800":["\uDFFF\uD800"]}`: `{"\ufffd":["\ufffd\ufffd"]}`,
		`"\ud83`:                      `"\ud83`,
	} {
		if got := string(Pair([]byte(in))); got != want {
			t.Errorf("Pair(%s) = %s, want %s", in, got, want)
		}
	}
}

// What is paired decodes to the same text: the decoder of encoding/json makes
// U+FFFD of halves, too.
func FuzzPair(f *testing.F) {
	f.Add(`"\ud83d\ude00 \ud83d \\ud83d"`)
	f.Add(`{"a":"\udfff"}`)
	f.Fuzz(func(t *testing.T, doc string) {
		got := Pair([]byte(doc))
		if string(Pair(got)) != string(got) {
			t.Errorf("%q is paired twice", doc)
		}
		if !json.Valid([]byte(doc)) {
			return
		}
		var was, is any
		if err := json.Unmarshal([]byte(doc), &was); err != nil {
			return // a number beyond float64
		}
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%q became %q: %v", doc, got, err)
		}
		a, _ := json.Marshal(was)
		b, _ := json.Marshal(is)
		if string(a) != string(b) {
			t.Errorf("%q says something else than %q", got, doc)
		}
	})
}
