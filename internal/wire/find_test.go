package wire_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/wire"
)

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		text, object string
		n            int
		broken       bool
	}{
		{"no object", "", 0, false},
		{`before {"a":1} after`, `{"a":1}`, 1, false},
		{`{ prose } {"a":{"b":2}}`, `{"a":{"b":2}}`, 1, false},
		{`{"a":1}{"b":2}`, `{"a":1}`, 2, false},
		{`{"a":"}"}`, `{"a":"}"}`, 1, false},
		{`{"a":1`, "", 0, true},
		{`ok {"a":1} then { "b" {}`, `{"a":1}`, 2, true},
	} {
		if object, n, broken := wire.Objects(c.text); string(object) != c.object || n != c.n || (broken != nil) != c.broken {
			t.Errorf("Objects(%q) is %s, %d, %v; want %s, %d, %v", c.text, object, n, broken, c.object, c.n, c.broken)
		}
	}
	if _, n, _ := wire.Objects(strings.Repeat(`{"a":`, 200_000)); n != 0 {
		t.Errorf("a text of unclosed objects has %d objects", n)
	}
}

func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		" {} ":                      "{}",
		"```json\n{\"a\":1}\n```":   `{"a":1}`,
		"``` {} ```":                "``` {} ```",
		"```\n{}\n``` ```\n{}\n```": "```\n{}\n``` ```\n{}\n```",
	} {
		if got := string(wire.Document(text)); got != want {
			t.Errorf("Document(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for raw, want := range map[string]string{``: "", `"a\nb"`: "a\nb", `{"a":1}`: `{"a":1}`, `"broken`: `"broken`, `7`: "7"} {
		if got := wire.Plain([]byte(raw)); got != want {
			t.Errorf("%s is %q, not %q", raw, got, want)
		}
	}
	if got := wire.Plain(wire.Quote("<é>\"")); got != "<é>\"" {
		t.Errorf("a text that was quoted is %q", got)
	}
}

func TestThought(t *testing.T) {
	for text, want := range map[string]string{`So: {"thought": "I look."}`: "I look.", "no object": "no object", `{"thought": 1}`: `{"thought": 1}`, `{} {}`: `{} {}`} {
		if got := wire.Thought(text); got != want {
			t.Errorf("the thought of %s is %q, not %q", text, got, want)
		}
	}
}

func TestScalars(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":["x",1.50,{"b":null}],"c":true,"\u0064":""}`: `k:a ":x 0:1.50 k:b k:c k:d ":`,
		`"only"`: `":only`, `[]`: ``, `[1,"a`: `0:1`, `{"a" 1}`: `k:a 0:1`, "": ``, `]1`: ``,
	} {
		var got []string
		wire.Scalars([]byte(doc), func(kind byte, text string) { got = append(got, string(kind)+":"+text) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s yields %q, want %s", doc, got, want)
		}
	}
}
