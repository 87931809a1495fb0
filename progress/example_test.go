package progress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/stop"
)

// escalation is a rule over the conversation: when it holds, nothing is left
// but a ticket. The stop condition ends the run once there is one.
type escalation struct {
	rule   pawl.Condition
	ticket string // the tool
}

func (e escalation) String() string { return fmt.Sprintf("escalation(%v, %s)", e.rule, e.ticket) }

func (e escalation) Review(s *pawl.State, step pawl.Step) pawl.Step {
	const why = "the customer is dissatisfied: open a ticket and do nothing else"
	if !e.rule.Eval(s).Holds || s.Succeeded(e.ticket) > 0 {
		return step
	}
	switch step := step.(type) {
	case pawl.Act:
		for i := range step.Calls {
			if d := &step.Calls[i]; d.Call.Tool != e.ticket {
				d.Do, d.Why = max(d.Do, pawl.CallRefuse), why
			}
		}
	case pawl.Finish:
		if step.Verdict.Status == pawl.StatusSuccess { // not without the ticket
			return pawl.Record{Events: []pawl.Event{pawl.ProgressJudged{Judgement: pawl.JudgedRefuted, Detail: why, Hint: why}}}
		}
	}
	return step
}

type ticket struct{}

func (ticket) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "open_ticket", Description: "Have a person take over.", Effect: pawl.Idempotent, Input: json.RawMessage(`{"type":"object"}`)}
}

func (ticket) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: json.RawMessage(`"T-1"`)}, nil
}

// Dissatisfied more than twice: a ticket, and the run is over. The model of this
// example would rather go on asking, and when it may not, would rather just end.
func Example_escalation() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	journal, err := sqlite.Open(ctx, filepath.Join(dir, "pawl.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer journal.Close()

	asks := pawl.Do(pawl.Call{Tool: "__pause_for_human__", Args: json.RawMessage(`{"question":"And now?"}`)})
	replies := []pawl.Reply{asks, asks, asks, pawl.Say("Bye."), pawl.Do(pawl.Call{Tool: "open_ticket", Args: json.RawMessage(`{}`)})}
	dissatisfied := stop.UserSaid(`(?i)not (happy|good)|useless`, 3)
	agent := pawl.Agent{
		Name:     "support",
		Model:    turns(replies...),
		Tools:    []pawl.Tool{ticket{}},
		Builtins: true,
		Policies: []pawl.Policy{escalation{dissatisfied, "open_ticket"}},
		Stop:     stop.All(dissatisfied, stop.ToolCalled("open_ticket")),
	}

	e := engine.New(journal, nil)
	defer e.Close()
	run, err := e.Start(ctx, agent, "My router is down, and I am not happy.", nil)
	for _, text := range []string{"That was not good either.", "Useless!"} {
		if err != nil {
			break
		}
		var r pawl.Result
		if r, err = run.Wait(ctx); err == nil {
			err = e.Answer(ctx, run.ID(), r.Pending[0].Call, "customer", text)
		}
		if err == nil {
			run, err = e.Resume(ctx, agent, run.ID(), nil)
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := run.Wait(ctx)
	fmt.Println(r.Verdict, err)
	for _, step := range r.Steps {
		for _, c := range step.Calls {
			fmt.Println(step.Iteration, c.Tool, c.Status)
		}
	}
	// Output:
	// success: user_said("(?i)not (happy|good)|useless") >= 3 && tool_called("open_ticket") <nil>
	// 1 __pause_for_human__ ok
	// 2 __pause_for_human__ ok
	// 3 __pause_for_human__ refused
	// 5 open_ticket ok
}
