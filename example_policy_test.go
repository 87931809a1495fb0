package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// discreet is a guardrail that withholds an answer with a word in it.
type discreet struct{ word string }

func (d discreet) String() string { return fmt.Sprintf("discreet(%q)", d.word) }

// Review gets every step before it is taken, and returns the one to take.
func (d discreet) Review(s *pawl.State, step pawl.Step) pawl.Step {
	end, is := step.(pawl.Finish)
	if !is || !strings.Contains(s.LastText()+end.Answer, d.word) {
		return step
	}
	return pawl.Finish{Answer: "(withheld)", Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusFailed, Condition: "discreet", Leaf: "discreet", Detail: "the answer tells a secret"}}
}

// A guardrail withholds an answer by ending the run with another one.
func Example_ownGuardrail() {
	agent := pawl.Agent{
		Name:     "porter",
		Model:    script.Replies(pawl.Say("The password is swordfish.")),
		Policies: []pawl.Policy{discreet{"password"}},
	}
	result, err := engine.Run(context.Background(), agent, "How do I get in?")
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer)
	// Output:
	// failed: the answer tells a secret <nil>
	// (withheld)
}

// twoKeys holds every call of a tool for a person.
type twoKeys struct{ tool string }

func (k twoKeys) String() string { return "two_keys(" + k.tool + ")" }

// Waits says that a run can wait for somebody outside, and Approves that it is for approvals only.
func (twoKeys) Waits() bool    { return true }
func (twoKeys) Approves() bool { return true }

func (k twoKeys) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, is := step.(pawl.Act)
	if !is {
		return step
	}
	calls := append([]pawl.Classified(nil), act.Calls...) // the step is not ours to change
	for i, c := range calls {
		open, _ := s.Call(c.Call.ID)
		if c.Call.Tool == k.tool && c.Do < pawl.CallAsk && open.Phase == pawl.PhaseUndecided { // nobody was asked yet
			calls[i].Do, calls[i].Why = pawl.CallAsk, k.tool+" takes two keys"
		}
	}
	return pawl.Act{Calls: calls}
}

// A guardrail holds a call for a person: it moves the call's class to ask.
func Example_ownGate() {
	launch := func(context.Context, struct{}) (string, error) { return "it flies", nil }
	agent := pawl.Agent{
		Name:     "silo",
		Tools:    []pawl.Tool{tool.Func("launch", "Launch.", launch, pawl.Write)},
		Model:    script.Replies(pawl.Do(pawl.Call{Tool: "launch", Args: json.RawMessage(`{}`)}), pawl.Say("Done.")),
		Policies: []pawl.Policy{twoKeys{"launch"}},
	}
	ask := engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
		fmt.Println("asked:", r.Reason)
		return engine.Decision{Approve: true}, nil
	})
	ctx := context.Background()
	run, err := engine.New(memory.New(), &engine.Options{Approver: ask}).Start(ctx, agent, "Launch it.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.ToolCalls, err)
	// Output:
	// asked: launch takes two keys
	// success 1 <nil>
}
