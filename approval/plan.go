package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
)

// PlanTool is the name of the tool by which a model presents its plan.
const PlanTool = "present_plan"

// Plan has an agent plan before it acts: until a person has approved a plan,
// only calls of tools that declare [pawl.Read] run, and all others are refused.
// The agent needs the tool [PresentPlan]. A call of it always asks a person; a
// denial returns its reason to the model, which can present another plan.
//
// The first approval lifts the restriction for the calls of later turns, and
// nothing else: other rules still apply to them. The restriction also applies to
// the runs of sub-agents that are called before the approval, as long as they
// last.
func Plan() pawl.Policy { return plan{} }

// PresentPlan returns the tool that [Plan] requires.
func PresentPlan() pawl.Tool { return planTool{} }

type plan struct{}

// String returns the policy as source.
func (plan) String() string { return "plan()" }

// Waits and Approves report that the agent waits for approvals.
func (plan) Waits() bool    { return true }
func (plan) Approves() bool { return true }

// Inherited reports that the policy applies to a sub-agent's run whose call was
// made before the approval.
func (plan) Inherited(s *pawl.State, call string) bool { return planning(s, call) }

// Check implements [pawl.Checker].
func (plan) Check(a pawl.Agent) error {
	if a.Loop != nil {
		if name := a.Loop.Name(); name == "single" || name == "workflow" || name == "graph" {
			return fmt.Errorf("policy plan(): the loop %s makes no plan (use react)", name)
		}
	}
	if !slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool { return t != nil && t.Info().Name == PlanTool }) {
		return errors.New("policy plan(): there is no tool " + PlanTool + " (add approval.PresentPlan())")
	}
	return nil
}

// What the approver and the model read.
const (
	planAsks   = "the plan needs approval; until then only tools that read run"
	planRefuse = "not run: only tools that read run until a person has approved a plan; "
	planRemedy = "find out what you need with them, then present your plan with " + PlanTool
	planReport = "say what you found and what is to be done" // to a sub-agent, which presents none
)

// Review asks about plans, and refuses what does more than read before one is
// approved.
func (plan) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	calls := slices.Clone(act.Calls)
	for i := range calls {
		d := &calls[i]
		switch {
		case d.Do == pawl.CallReuse || d.Do == pawl.CallRefuse:
		case d.Call.Tool == PlanTool:
			d.Do, d.Why = pawl.CallAsk, naming.Also(d.Why, planAsks)
		case d.Info().Effect != pawl.Read && d.Info().Agent == "" && planning(s, d.Call.ID):
			d.Do, d.Why = pawl.CallRefuse, planRefuse+planReport
			if slices.ContainsFunc(s.Declaration().Tools, func(t pawl.ToolInfo) bool { return t.Name == PlanTool }) {
				d.Why = planRefuse + planRemedy
			}
		}
	}
	return pawl.Act{Calls: calls}
}

// planning reports whether no plan was approved before the turn of a call.
func planning(s *pawl.State, call string) bool {
	c, ok := s.Call(call)
	for p := range s.SuccessfulCalls(PlanTool) {
		if ok && p.Iteration < c.Iteration {
			return false
		}
	}
	return true
}

type planTool struct{}

// Info declares the tool.
func (planTool) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name:        PlanTool,
		Description: "Present your plan to a person for approval. Until a plan is approved, only tools that read run; afterwards all do. Call it alone, once you know enough.",
		Input:       json.RawMessage(`{"type":"object","properties":{"plan":{"type":"string","minLength":1,"description":"what you are going to do, step by step, as Markdown"}},"required":["plan"]}`),
		Effect:      pawl.Read,
	}
}

// Run is called when the plan is approved.
func (planTool) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: json.RawMessage(`"The plan is approved. Carry it out."`)}, nil
}
