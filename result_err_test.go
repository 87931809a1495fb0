package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// The error of a result names the run, the status, the reason and what to do, and holds the
// verdict, also of a result that came as JSON.
func TestResultErr(t *testing.T) {
	ping := tool.Func("ping", "Pings.", func(context.Context, struct{}) (string, error) { return "pong", nil }, pawl.Read)
	agent := pawl.Agent{
		Name: "busy", Tools: []pawl.Tool{ping}, Limits: pawl.Limits{Iterations: 1},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "ping", Args: json.RawMessage(`{}`)})),
	}
	result, err := engine.Run(t.Context(), agent, "Go.")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var decoded pawl.Result
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatal(err)
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
	agent.Model, agent.Tools = script.Replies(pawl.Say("Done.")), nil
	if result, err = engine.Run(t.Context(), agent, "Go."); err != nil || result.Err() != nil {
		t.Errorf("got %v, %v", err, result.Err())
	}
}
