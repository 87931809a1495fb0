package pawl_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// calls are what comes of a reply under the JSON strategy.
func calls(t *testing.T, m *pawl.Machine, text string) (all []string, malformed string) {
	t.Helper()
	e, err := m.Replied(new(pawl.State), pawl.Think{Purpose: pawl.PurposeTurn}, pawl.Say(text))
	check.Must(t, err)
	for _, p := range e.Reply.Parts {
		if c, ok := p.(pawl.Call); ok {
			all = append(all, c.Tool+" "+string(c.Args))
		}
	}
	return all, e.Malformed
}

// Hundreds of replies around one plan: whatever prose, fences and braces stand
// around it, it is that plan; cut off anywhere, twice, or broken in any place, it
// is none. In no reply is anything else taken for the plan.
func TestHostilePlans(t *testing.T) {
	m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Strategy: pawl.StrategyJSON})
	check.Must(t, err)
	const plan = `{"thought":"a \"{\" and é","action":"look","action_input":{"action":"drop","q":{"action_input":{}}}}`
	const is = `look {"action":"drop","q":{"action_input":{}}}`
	n := 0
	want := func(text string, good bool) {
		t.Helper()
		n++
		got, malformed := calls(t, m, text)
		if good && (len(got) != 1 || got[0] != is || malformed != "") || !good && (len(got) != 0 || malformed == "") {
			t.Errorf("%.200q: %q, malformed %q", text, got, malformed)
		}
	}
	around := []string{
		"", " ", "\n", "\ufeff", "Well: ", "```json\n", "```", "{", "}", "{ ", "{thought}", "{{", "}}", "[", "]", "[[", "<plan>", "action: drop\n", "\"", "'{'", "{'action': 'drop'}",
		"{action: drop}", "\\", "\x00", "\u2028", "//", "/*", "<!--", "{/*", "{1: 2}", "{,}", "null", "1e999", "[1,", "thought: {…}", "\u202e", "{\u00a0", "data: ",
	}
	for _, before := range around {
		for _, after := range around {
			want(before+plan+after, true)
		}
	}
	for i := 2; i < len(plan); i++ { // a brace alone is prose
		want(plan[:i], false)
		want("So: "+plan[:i]+"\n```", false)
		want(plan[:i]+"\n"+plan, false) // nobody knows which of the two was meant
	}
	for _, other := range []string{plan, `{}`, `{"action":"drop"}`, `{"a":1}`, `{"":{}}`, "```json\n{}\n```", `[{"action":"drop"}]`, `{"action":"drop","action_input":`, `{"`, `{ "`, "{\n\"action\"", `{""`} {
		for _, between := range []string{"", " ", "\n", ",", "```\n```", " or "} {
			want(other+between+plan, false)
			want(plan+between+other, false)
		}
	}
	for _, broken := range []string{
		`{"thought":"t","action":"look",}`, `{"thought":"t" "action":"look"}`, `{"thought":"t","action":look}`, `{"thought":'t',"action":"look"}`, `{"action":"look" // so\n}`,
		`{"action":"look","action_input":{"q":NaN}}`, `{"action":"look","action_input":{"q":01}}`, `{"action":"look","action_input":{"q":"\q"}}`, "{\"action\":\"lo\nok\"}",
		`{"action":null}`, `{"action":""}`, `{"action":1}`, `{"action":["look"]}`, `{"action":{"look":{}}}`, `{"thought":1,"action":"look"}`, `{"Action":"look"}`, `{"ACTION":"look"}`,
		`{"action ":"look"}`, `{" action":"look"}`, `{"а\u0441tion":"look"}`, `{"tool":"look"}`, `{"name":"look","arguments":{}}`, `{"action_input":{"action":"look"}}`, `{"__proto__":{"action":"look"}}`,
		`[{"action":"look"}, {"action":"drop"}]`, `{"plan":{"action":"look"}}`, `{"properties":{"action":"look"}}`,
	} {
		want(broken, false)
		want("```json\n"+broken+"\n```", false)
	}
	if n < 1500 {
		t.Errorf("only %d replies", n)
	}
}

// A model that has lost its way may begin objects without end. To find that out
// takes no longer than reading the reply a few times.
func TestPlansWithoutEnd(t *testing.T) {
	m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Strategy: pawl.StrategyJSON})
	check.Must(t, err)
	for _, unit := range []string{`{"":`, `{"a":[`, "{ ", `{"`, "{\n\"a\":", `{"a":{`, `{} `, "}{"} {
		text := strings.Repeat(unit, 128<<10/len(unit))
		if got, malformed := calls(t, m, text); got != nil || malformed == "" {
			t.Errorf("%s…: %q", unit, got)
		}
	}
}
