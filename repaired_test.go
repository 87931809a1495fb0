package pawl

import (
	"encoding/json"
	"strings"
	"testing"
)

// A reply with bytes that are not UTF-8 is repaired, and the log says so. A call
// whose arguments had such bytes does not run: nobody knows what they were to
// say. U+FFFD that the model wrote itself is a signal like any other.
func TestRepairedReply(t *testing.T) {
	m := machines(t)[1]
	args := func(text string) json.RawMessage { return json.RawMessage(`{"note":"` + text + `"}`) }
	for name, c := range map[string]struct {
		reply    Reply
		repaired bool
		text     string
		runs     bool
	}{
		"sound":                  {Reply{Parts: []Part{Text{"Straße"}, Call{Tool: "pay", Args: args("ö")}}}, false, "Straße", true},
		"its own U+FFFD":         {Reply{Parts: []Part{Text{"a\uFFFD"}, Call{Tool: "pay", Args: args("\uFFFD")}}}, false, "a\uFFFD", true},
		"text":                   {Reply{Parts: []Part{Text{"Stra\xdfe"}, Call{Tool: "pay", Args: args("ö")}}}, true, "Stra\uFFFDe", true},
		"thinking":               {Reply{Parts: []Part{Thinking{Text: "h\xe4"}, Text{"{}"}}}, true, "{}", true},
		"arguments":              {Reply{Parts: []Part{Text{"Paying."}, Call{Tool: "pay", Args: args("\xff")}}}, true, "Paying.", false},
		"repaired by an adapter": {Reply{Repaired: true, Parts: []Part{Text{"a\uFFFD"}, Call{Tool: "pay", Args: args("\uFFFD")}}}, true, "a\uFFFD", false},
		"elsewhere":              {Reply{Repaired: true, Parts: []Part{Text{"a\uFFFD"}, Call{Tool: "pay", Args: args("ö")}}}, true, "a\uFFFD", true},
		"arguments no JSON":      {Reply{Parts: []Part{Call{Tool: "pay", Args: json.RawMessage("{\xff")}}}, true, "", false},
	} {
		s := new(State)
		fold(s, RunStarted{Declaration: m.Declaration()})
		step, ok := m.Decide(s).(Think)
		if !ok {
			t.Fatalf("%s: %v", name, m.Decide(s))
		}
		fold(s, m.Called(step))
		replied, err := m.Replied(s, step, c.reply)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if replied.Reply.Repaired != c.repaired || replied.Reply.Text() != c.text {
			t.Errorf("%s: repaired %v, text %q", name, replied.Reply.Repaired, replied.Reply.Text())
		}
		line, err := Entry{Run: "r", Seq: 9, Event: replied}.AppendJSON(nil)
		if err != nil || strings.Contains(string(line), `"repaired":true`) != c.repaired {
			t.Errorf("%s: %s, %v", name, line, err)
		}
		fold(s, replied)
		switch step := m.Decide(s).(type) {
		case Act:
			if !c.runs {
				t.Errorf("%s: %+v", name, step.Calls)
			}
		case Record:
			rejected, ok := step.Events[0].(PlanRejected)
			if c.runs || !ok || !strings.Contains(rejected.Feedback, "not UTF-8; write the call again") {
				t.Errorf("%s: %+v", name, step.Events)
			}
		case Finish:
			if !c.runs || name != "thinking" {
				t.Errorf("%s: %+v", name, step)
			}
		}
	}
}

// The same holds for what a reply of the json strategy has as its action's input.
func TestRepairedAction(t *testing.T) {
	m := machines(t)[3]
	for input, runs := range map[string]bool{"ö": true, "\xff": false} {
		reply := Say(`{"thought":"Pay.","action":"pay","action_input":{"note":"` + input + `"}}`)
		replied, err := m.Replied(&State{}, Think{Purpose: PurposeTurn}, reply)
		if err != nil || replied.Malformed != "" || !hasCalls(replied.Reply) || replied.Reply.Repaired == runs {
			t.Fatalf("%q: %+v, %v", input, replied, err)
		}
		for _, p := range replied.Reply.Parts {
			if c, ok := p.(Call); ok && (m.tools["pay"].validate(c.Args) == "") != runs {
				t.Errorf("%q: %s", input, c.Args)
			}
		}
	}
}

// A call that a reply repeats with its id, its tool and its arguments is one call.
// Without an id, or where anything differs, it is another one.
func TestRepeatedCalls(t *testing.T) {
	pay := func(id, tool, args string) Call { return Call{Ref: id, Tool: tool, Args: json.RawMessage(args)} }
	one := pay("x", "pay", `{"n":1,"to":"a"}`)
	for name, c := range map[string]struct {
		calls []Call
		want  int
	}{
		"the same":        {[]Call{one, one, pay("y", "put", `{}`), one}, 2},
		"written again":   {[]Call{one, pay("x", "pay", `{ "to": "\u0061", "n": 1 }`)}, 1},
		"other arguments": {[]Call{one, pay("x", "pay", `{"n":2,"to":"a"}`)}, 2},
		"another number":  {[]Call{one, pay("x", "pay", `{"n":1.0,"to":"a"}`)}, 2},
		"another id":      {[]Call{one, pay("y", "pay", `{"n":1,"to":"a"}`)}, 2},
		"no ids":          {[]Call{pay("", "pay", `{"n":1}`), pay("", "pay", `{"n":1}`)}, 2},
		"another tool":    {[]Call{one, pay("x", "put", `{"n":1,"to":"a"}`)}, 2},
		"an answer":       {[]Call{pay("x", completeTool, `{"answer":1}`), pay("x", completeTool, `{"answer":1}`)}, 1},
	} {
		m, s := machines(t)[1], new(State)
		fold(s, RunStarted{Declaration: m.Declaration()})
		replied, err := m.Replied(s, m.Decide(s).(Think), Do(c.calls...))
		if n := len(replied.Reply.Parts); err != nil || n != c.want {
			t.Errorf("%s: %d calls, %v", name, n, err)
		}
	}
}
