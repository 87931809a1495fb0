package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

type unsure struct{ error }

func (unsure) Unknown() bool { return true }

// losing is a tool that loses the other side after it has sent the call.
type losing struct{ effect pawl.Effect }

func (l losing) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "send", Description: "Send.", Effect: l.effect}
}

func (losing) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, unsure{errors.New("the line is dead")}
}

// Of a Write whose tool cannot tell, the outcome is unknown; anything else may
// simply be done again.
func TestToolThatCannotTell(t *testing.T) {
	for effect, want := range map[pawl.Effect]pawl.ToolStatus{pawl.Write: pawl.ToolUnknown, pawl.Read: pawl.ToolFailed} {
		journal := memory.New()
		turns := 0
		agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{losing{effect}}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			if turns++; turns == 1 {
				return pawl.Do(pawl.Call{ID: "c", Tool: "send", Args: []byte(`{}`)}), nil
			}
			return pawl.Say("done"), nil
		})}
		run := talks(t, engine.New(journal, nil), agent, "go", "").Run
		for entry := range entriesOf(t, journal, run) {
			if e, ok := entry.Event.(pawl.ToolFinished); ok && e.Status != want {
				t.Errorf("%v: %v, want %v", effect, e.Status, want)
			}
		}
	}
}
