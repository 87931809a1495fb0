//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A note is a tool that writes down what it was asked to do, and may hold the
// run up while something happens.
type note struct {
	mu    sync.Mutex
	done  []int
	at    int
	event func()
}

func (n *note) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "note", Description: "Note a number.", Effect: pawl.Write,
		Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
}

func (n *note) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var in struct{ N int }
	err := json.Unmarshal(inv.Args, &in)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done = append(n.done, in.N); in.N == n.at && n.event != nil {
		n.event()
	}
	return pawl.Output{JSON: []byte(`"noted"`)}, err
}

// noting is an agent that notes the numbers below most.
func noting(tool pawl.Tool, most int) pawl.Agent {
	return pawl.Agent{
		Name: "noting", Tools: []pawl.Tool{tool},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			turn := len(r.Messages) / 2
			if turn == most {
				return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "note", Args: fmt.Appendf(nil, `{"n":%d}`, turn)}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
		}),
	}
}

// TestRunGoesOn kills the server while a run of the engine is in a tool. The
// run goes on when the server is back, and no tool ran twice.
func TestRunGoesOn(t *testing.T) {
	s := started(t)
	j := fresh(t)
	begun, killed := make(chan struct{}), make(chan struct{})
	tool := &note{at: 4, event: func() { close(begun); <-killed }}
	run, err := engine.New(j, nil).Start(t.Context(), noting(tool, 8), "go", nil)
	must(t, err)
	<-begun
	s.kill(t)
	close(killed)
	s.restart(t)
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != pawl.StatusSuccess || result.ToolCalls != 8 {
		t.Fatal(result.Verdict, result.ToolCalls, err)
	}
	if got := fmt.Sprint(tool.done); got != "[0 1 2 3 4 5 6 7]" {
		t.Errorf("the tool noted %s", got)
	}
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil || h.Status != pawl.StatusSuccess || !h.Lease.Until.IsZero() {
			t.Errorf("the head is %+v, %v", h, err)
		}
	}
}
