package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/pawltest"
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

// Each step that asks the model begins with the instructions of the moment, which the log has once for
// each change and run, wherever the process dies. What is counted for a request includes them.
func TestInstructionsOfSteps(t *testing.T) {
	t.Parallel()
	w := &world{}
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		agent := w.agent()
		agent.Instruct = func(_ context.Context, s *pawl.State) (string, error) {
			return strings.Repeat("frozen ", 100*(1+s.Iterations()/2)), nil
		}
		return New(agent, say("a", "a"), say("b", "b"), say("c", "c"), Step{ID: "d", Parallel: [][]Step{{say("e", "e")}}}, say("f", "f"))
	}, "go", nil)
	for _, asked := range w.asked {
		if n := strings.Count(asked, "frozen "); strings.Count(asked, "Instructions as of now:\n") != 1 || n != 100 && n != 200 || !strings.Contains(asked[len(asked)-8:], "say ") {
			t.Errorf("a model read %q", asked)
		}
	}
	var got []string
	for _, e := range log {
		switch e := e.Event.(type) {
		case pawl.InstructionsGiven:
			got = append(got, fmt.Sprint(strings.Count(e.Text, "frozen")))
		case pawl.ModelCalled:
			if got = append(got, e.View.Step); e.Bytes < 100*len("frozen ") {
				t.Errorf("a request has %d bytes", e.Bytes)
			}
		}
	}
	if want := []string{"100", "a", "b", "200", "c", "f"}; !slices.Equal(got[:min(len(got), 6)], want) {
		t.Errorf("%q, want %q", got, want)
	}
}
