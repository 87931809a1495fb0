package wire_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/wire"
)

func TestOnly(t *testing.T) {
	for _, c := range []struct {
		text, object string
		n            int
	}{
		{"no object", "", 0},
		{`before {"a":1} after`, `{"a":1}`, 1},
		{`{ prose } {"a":{"b":2}}`, `{"a":{"b":2}}`, 1},
		{`{"a":1}{"b":2}`, `{"a":1}`, 2},
		{`{"a":"}"}`, `{"a":"}"}`, 1},
	} {
		if object, n := wire.Only(c.text); string(object) != c.object || n != c.n {
			t.Errorf("Only(%q) is %s, %d; want %s, %d", c.text, object, n, c.object, c.n)
		}
	}
	if _, n := wire.Only(strings.Repeat(`{"a":`, 200_000)); n != 0 {
		t.Errorf("a text of unclosed objects has %d objects", n)
	}
}

func TestBroken(t *testing.T) {
	for text, broken := range map[string]bool{`{"a":1}`: false, `{ prose }`: false, `{"a":1`: true, `ok {"a":1} then { "b" 2}`: true} {
		if err := wire.Broken(text); (err != nil) != broken {
			t.Errorf("Broken(%q) is %v", text, err)
		}
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

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		text, want string
		schema     bool
	}{
		{"```json\n{\"a\": 1}\n```", `{"a": 1}`, true}, {"{\"a\": 1}", `"{\"a\": 1}"`, false}, {" yes\n", `"yes"`, true}, {"", `""`, true},
	} {
		if got := string(wire.Answer(c.text, c.schema)); got != c.want {
			t.Errorf("%q is %s, want %s", c.text, got, c.want)
		}
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
		`"only"`: `":only`, `[]`: ``, `[1,"a`: `0:1`, `{"a" 1}`: ``, "": ``,
	} {
		var got []string
		wire.Scalars([]byte(doc), func(kind byte, text string) { got = append(got, string(kind)+":"+text) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s yields %q, want %s", doc, got, want)
		}
	}
}
