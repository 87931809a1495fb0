package workflow_test

import (
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A text that a step came to is the declared output as a text, unless only the document in it is.
func TestDeclaredOutput(t *testing.T) {
	for _, c := range []struct{ schema, said, answer, output string }{
		{`{"type":"string"}`, "5", "5", `"5"`},
		{`{"type":"string"}`, "hello", "hello", `"hello"`},
		{`{"type":["string","integer"]}`, "5", `"5"`, `"5"`},
		{`{"type":"integer"}`, "5", "5", `5`},
		{`{"type":"object"}`, `{"a":1}`, `{"a":1}`, `{"a":1}`},
		{`{"type":"object"}`, "hello", "", ``},
	} {
		agent := New(pawl.Agent{Name: "a", Model: (&world{}).model(), Output: json.RawMessage(c.schema)}, say("s", c.said))
		r, err := engine.Run(t.Context(), agent, "go")
		if err != nil || r.Answer != c.answer || string(r.Output) != c.output || (r.Err() == nil) != (c.output != "") {
			t.Errorf("%s said as %s: %v %q %s %v", c.said, c.schema, r.Verdict, r.Answer, r.Output, err)
		}
	}
}
