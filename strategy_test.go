package pawl_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// A reply is a plan when exactly one JSON object is found in it.
func TestPlans(t *testing.T) {
	m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Strategy: pawl.JSON})
	if err != nil {
		t.Fatal(err)
	}
	const call = ` {"thought":"t","action":"look","action_input":{"q":"a } b"}} `
	for _, tt := range []struct{ name, text, args, why string }{
		{"bare", call, `{"q":"a } b"}`, ""},
		{"with prose", "I {think} so {} not. Here:\n```json\n" + call + "```\nDone }.", "", "has 2 JSON objects"},
		{"with braces in prose", "I {think} so:\n```json\n" + call + "```\nDone }.", `{"q":"a } b"}`, ""},
		{"without input", `{"thought":"t","action":"look"}`, `{}`, ""},
		{"null input", `{"thought":null,"action":"look","action_input":null}`, `{}`, ""},
		{"input that is none", `{"action":"look","action_input":"x"}`, `"x"`, ""},
		{"none", "I will look.", "", "has no JSON object"},
		{"a list", `[1]`, "", "has no JSON object"},
		{"two", call + call, "", "has 2 JSON objects"},
		{"no action", `{"thought":"t"}`, "", `has no "action"`},
		{"other letters", `{"thought":"t","ACTION":"look"}`, "", `has no "action"`},
		{"no text", `{"thought":"t","action":["look"]}`, "", "must be strings"},
		{"cut off", `{"thought":"t","action":"look","action_inp`, "", "malformed"},
		{"a comma too many", `{"thought":"t","action":"look","action_input":{"action":"drop"},}`, "", "malformed"},
		{"a quote too few", `{"thought":"say "hi"","action":"http","action_input":{"action":"drop"}}`, "", "malformed"},
		{"broken before a whole one", `{"thought":}` + call, "", "malformed"},
	} {
		e := m.Replied(&pawl.State{}, pawl.Think{Purpose: pawl.PurposeTurn}, pawl.Say(tt.text)).(pawl.ModelReplied)
		var args []string
		for _, p := range e.Reply.Parts {
			if c, ok := p.(pawl.Call); ok {
				args = append(args, string(c.Args))
			}
		}
		got := strings.Join(args, " and ")
		if got != tt.args || tt.why == "" && e.Malformed != "" || !strings.Contains(e.Malformed, tt.why) {
			t.Errorf("%s: arguments %s, want %s; malformed %q, want %q", tt.name, got, tt.args, e.Malformed, tt.why)
		}
	}
}
