package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// Options join the objects of a request field by field, and win.
func TestJoin(t *testing.T) {
	const text = `{"format":{"type":"json","schema":{"z":1,"a":2}}}`
	for option, want := range map[string]string{
		`{"verbosity":"low"}`:                         `{"text":{"format":{"type":"json","schema":{"z":1,"a":2}},"verbosity":"low"}}`,
		`{"format":null,"verbosity":"low"}`:           `{"text":{"verbosity":"low"}}`,
		`{"format":1}`:                                `{"text":{"format":1}}`,
		`{"format":{"strict":true,"schema":null}}`:    `{"text":{"format":{"strict":true,"type":"json"}}}`,
		`{"format":{"type":"json","schema":{"b":3}}}`: `{"text":{"format":{"schema":{"a":2,"b":3,"z":1},"type":"json"}}}`,
		`{"format":{"type":"text"}}`:                  `{"text":{"format":{"type":"text"}}}`,
		`"plain"`:                                     `{"text":"plain"}`,
		`null`:                                        `{}`,
	} {
		req := map[string]any{"text": json.RawMessage(text)}
		Join(req, "text", json.RawMessage(option))
		if body, _ := JSON(req); strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %s, want %s", option, body, want)
		}
	}
}

// Thinking goes back to the model and the account that it is of, behind what it was made behind.
func TestRecalls(t *testing.T) {
	account := func(o Options) string {
		s := vendor.Server("none", "tiny", o)
		return s.Account()
	}
	key := Options{APIKey: "a", BaseURL: "http://one"}
	for name, c := range map[string]struct {
		part  pawl.Thinking
		bound bool
		want  bool
	}{
		"of this account":        {pawl.Thinking{Model: "none/tiny", Account: account(key)}, true, true},
		"of no account":          {pawl.Thinking{Model: "none/tiny"}, true, true},
		"of another key":         {pawl.Thinking{Model: "none/tiny", Account: account(Options{APIKey: "b", BaseURL: "http://one"})}, false, false},
		"of another endpoint":    {pawl.Thinking{Model: "none/tiny", Account: account(Options{APIKey: "a", BaseURL: "http://two"})}, false, false},
		"of another model":       {pawl.Thinking{Model: "none/huge", Account: account(key)}, false, false},
		"behind something else":  {pawl.Thinking{Model: "none/tiny", Moved: true}, true, false},
		"behind whatever it was": {pawl.Thinking{Model: "none/tiny", Moved: true}, false, true},
	} {
		s := vendor.Server("none", "tiny", key)
		s.Traits.Bound = c.bound
		if got := s.Recalls(c.part); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if a := account(key); len(a) != 12 || strings.Contains(a, "a\n") {
		t.Errorf("account %q", a)
	}
}
