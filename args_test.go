package pawl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// Arguments that could make a log or a later request unreadable are made
// harmless before they become an event.
func TestArgumentsOfReplies(t *testing.T) {
	m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil)})
	check.Must(t, err)
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", `{}`},
		{"null", "null", `{}`},
		{"an object", `{"a": 1}`, `{"a": 1}`},
		{"no object", `[1]`, `[1]`},
		{"twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"no JSON", `{"a":`, `"{\"a\":"`},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "\"the arguments had bytes that are not UTF-8: {\\\"a\\\":\\\"\uFFFD\\\"}\""},
		{"half a pair", `{"a":"\ud83d"}`, `{"a":"\ufffd"}`},
		{"too deep", deep, `"` + deep + `"`},
		{"too long", `"` + strings.Repeat("x", 1<<20) + `"`, `"1048578 bytes, where a call may have 1048576; they were not kept"`},
	} {
		e, err := m.Replied(new(pawl.State), pawl.Think{Purpose: pawl.PurposeTurn}, pawl.Do(pawl.Call{Tool: "t", Args: json.RawMessage(tt.in)}))
		check.Must(t, err)
		got := e.Reply.Parts[0].(pawl.Call)
		if string(got.Args) != tt.want {
			t.Errorf("%s: %.100s, want %.100s", tt.name, got.Args, tt.want)
		}
	}
}

// A tool that leaves its enums at their defaults is JSON, too.
func TestToolInfoJSON(t *testing.T) {
	var back pawl.ToolInfo
	b, err := json.Marshal(pawl.ToolInfo{Name: "add"})
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil || back.Name != "add" || back.Effect != 0 || back.OnDoubt != 0 || back.Trust != 0 {
		t.Errorf("%s: %+v, %v", b, back, err)
	}
}
