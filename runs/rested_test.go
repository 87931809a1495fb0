package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
)

// pick is a tool of the client's.
type pick struct{}

func (pick) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "pick", Client: true, Input: json.RawMessage(`{"type":"object"}`)}
}

func (pick) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("it was run here, where the client is to run it")
}

// Who waited until a run rests is told how it rested, also when somebody has gone
// on with it before he looked.
func TestRested(t *testing.T) {
	j, err := sqlite.Open(t.Context(), t.TempDir()+"/j.db", nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	thinks, free := make(chan bool), make(chan bool)
	agent := pawl.Agent{Name: "picker", Tools: []pawl.Tool{pick{}}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return pawl.Do(pawl.Call{Tool: "pick", Args: json.RawMessage(`{}`)}), nil
		}
		thinks <- true
		<-free
		return pawl.Say("picked"), nil
	})}
	e := engine.New(j, nil)
	h, err := e.Start(t.Context(), agent, "go", nil)
	must(t, err)
	waited, err := h.Wait(t.Context())
	if err != nil || waited.Status != pawl.StatusWaitingClientTool {
		t.Fatal(waited.Status, err)
	}
	must(t, e.Submit(t.Context(), waited.Run, "c_1", "client", json.RawMessage(`1`)))
	again, err := e.Resume(t.Context(), agent, waited.Run, nil)
	must(t, err)
	<-thinks
	head, err := runs.Head(t.Context(), j, waited.Run)
	must(t, err)
	now, err := runs.Report(t.Context(), j, head, explain.Place{})
	if err != nil || now.Status != pawl.StatusRunning {
		t.Error(now.Status, err)
	}
	then, err := runs.LastReport(t.Context(), j, waited.Run, explain.Place{})
	if err != nil || then.Status != pawl.StatusWaitingClientTool || len(then.Pending) != 1 || then.Pending[0].Call != "c_1" {
		t.Error(then.Status, then.Pending, err)
	}
	close(free)
	if r, err := again.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
		t.Error(r.Status, err)
	}
}
