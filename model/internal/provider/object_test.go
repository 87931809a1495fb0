package provider

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestObject(t *testing.T) {
	for args, want := range map[string]string{
		` {"a": 1} `: `{"a": 1}`,
		`[1]`:        `{}`,
		`"x"`:        `{}`,
		`null`:       `{}`,
		``:           `{}`,
		`{`:          `{}`,
		`{"a":1}{}`:  `{}`,
		`{"n": 1.50e+07, "m": 123456789012345678901234567890}`: `{"n": 1.50e+07, "m": 123456789012345678901234567890}`,
		`{"n": 1.50e+07, "n": 9007199254740993}`:               `{"n":9007199254740993}`,
		`{"a": 1, "b": [2], "a": {"c": 3}}`:                    `{"a":{"c":3},"b":[2]}`,
		`{"o": {"x": 1, "y": 2, "x": "<&>"}}`:                  `{"o":{"x":"<&>","y":2}}`,
		`{"\u0061": 1, "a": 2}`:                                `{"a":2}`,
		`{"s": "\ud83d\ude00"}`:                                `{"s": "\ud83d\ude00"}`,
		`{"s": "\ud83d", "t": [true, null, 1e2]}`:              `{"s":"�","t":[true,null,1e2]}`,
		`{"\udc00": "x\ude00y"}`:                               `{"�":"x�y"}`,
		"{\"s\": \"\xff\"}":                                    `{"s":"�"}`,
		`{"s": "�"}`:                                           `{"s": "�"}`,
	} {
		if got := string(Object([]byte(args))); got != want {
			t.Errorf("object of %s: %s, want %s", args, got, want)
		}
	}
}

// What is sent is an object whose keys are there once and whose text is Unicode,
// and it says what the arguments say.
func FuzzObject(f *testing.F) {
	f.Add(`{"a": 1, "b": [2], "a": {"c": 3}}`)
	f.Add(`{"s": "\ud83d", "t": [true, null, 1e2, 1.0], "": {"": {}}}`)
	f.Add(`"x"`)
	f.Fuzz(func(t *testing.T, args string) {
		got := Object([]byte(args))
		if len(got) == 0 || got[0] != '{' || !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("%q", got)
		}
		if again := Object(got); !bytes.Equal(again, got) {
			t.Errorf("%s, and fixed again %s", got, again)
		}
		read := func(s []byte) (v map[string]any) {
			dec := json.NewDecoder(bytes.NewReader(s))
			dec.UseNumber()
			if dec.Decode(&v) != nil || !json.Valid(s) {
				return nil
			}
			return v
		}
		if want := read([]byte(args)); want != nil && !bytes.Equal(Marshal(want), Marshal(read(got))) {
			t.Errorf("%s became %s", args, got)
		}
	})
}
