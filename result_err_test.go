package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// The error of a result names the run, the status, the reason and what to do, and holds the
// verdict, also of a result that came as JSON.
func TestResultErr(t *testing.T) { // Promises: T5.
	ping := tool.Func("ping", "Pings.", func(context.Context, struct{}) (string, error) { return "pong", nil }, pawl.Read)
	agent := pawl.Agent{
		Name: "busy", Tools: []pawl.Tool{ping}, Limits: pawl.Limits{Iterations: 1},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "ping", Args: json.RawMessage(`{}`)})),
	}
	result, err := engine.Run(t.Context(), agent, "Go.")
	check.Must(t, err)
	data, err := json.Marshal(result)
	check.Must(t, err)
	var decoded pawl.Result
	check.Must(t, json.Unmarshal(data, &decoded))
	var none pawl.Result
	if err := none.Err(); err == nil || err.Error() != "there is no run: the result is empty" || none.Status.String() != "no run" {
		t.Errorf("no result: %v, %v", err, none.Status)
	}
	said := pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Plan my trip."}, pawl.Text{Text: "Make a plan."}}}
	if got := said.Text(); got != "Plan my trip.\n\nMake a plan." {
		t.Errorf("a user said %q", got)
	}
	for _, r := range []pawl.Result{result, decoded} {
		err := r.Err()
		v, ok := errors.AsType[pawl.Verdict](err)
		if !ok || v.Status != pawl.StatusExhausted || v.Leaf != "iterations >= 1" {
			t.Errorf("got %v, %+v", err, v)
		}
		if want := "run " + r.Run + ": exhausted: iterations >= 1; " + r.Action; err.Error() != want || r.Action == "" {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	for want, v := range map[string]pawl.Verdict{
		"cancelled by ann: too dear":       {Holds: true, Status: pawl.StatusCancelled, Condition: "cancelled", Leaf: "cancelled", Detail: "cancelled by ann: too dear"},
		"cancelled: enough":                {Holds: true, Status: pawl.StatusCancelled, Condition: "own", Leaf: "own", Detail: "enough"},
		"denied: ann denied pay (c_1): no": {Holds: true, Status: pawl.StatusDenied, Condition: "denied", Leaf: "denied", Detail: "ann denied pay (c_1): no"},
	} {
		if v.String() != want {
			t.Errorf("got %q, want %q", v, want)
		}
	}
	agent.Model, agent.Tools = script.Replies(pawl.Say("Done.")), nil
	if result, err = engine.Run(t.Context(), agent, "Go."); err != nil || result.Err() != nil {
		t.Errorf("got %v, %v", err, result.Err())
	}
}
