package refactor

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/tool"
)

const prompt = `You refactor code: you change its form and not what it does. You work in a copy of the project; your changes are applied to the original when you are done and everything below holds.

How to go about it:
- Read the code that the goal is about, its callers and its tests. Work in small steps that leave the tests passing.
- Tests that there are stay as they are. You may add to them. Before you change code that no test executes, add a test of it that passes on the code as it is.
- The exported names and their types stay as they are, unless the goal is about them.
- Change nothing that the goal is not about, and do not repair faults: a refactoring keeps them.
- The tests run by themselves after each turn that edits, and what is open is listed. A measure must become less than it was: it is named there.
- When the goal is reached, call finished. If the goal cannot be reached, answer without calling a tool and say why.`

// Agent returns the agent. Its observer and tools work in the copy, so it can have one run at a time.
func (r *Refactor) Agent() pawl.Agent {
	return project.Agent(pawl.Agent{
		Name:        "refactor",
		Description: "changes the form of code and not what it does",
		Prompt:      prompt,
		Model:       r.Model,
		Tools: append(r.Files.Tools(), r.TestTool(),
			tool.FuncWith("finished", "Say that the files as they are now reach the goal.", r.finish, pawl.Read, nil)),
		Observer: r.observe,
		Source:   r.source.String(),
	}, r.Limits)
}

// finished is the state of the files that the model called finished.
type finished struct {
	State string `json:"state,omitempty"`
}

func (r *Refactor) finish(context.Context, struct{}) (string, error) {
	state := r.Files.State(r.Edited())
	return "noted", r.Note(func(m *project.Memory[finished]) { m.More = finished{state} })
}

// observe runs the tests if anything has changed.
func (r *Refactor) observe(ctx context.Context) (pawl.Observation, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	l, err := r.look(ctx)
	if err != nil {
		return pawl.Observation{}, err
	}
	v := l.verdict
	if l.changed && r.Known().More.State != l.state {
		v.Miss("[finished]", "call finished when the goal is reached")
	}
	return r.Observation(l.state, l.text, v.Text("Nothing is open."), v)
}

// Recorded returns the agent of a run as its source describes it, to replay the run's log. It needs no
// working copy: its tools and its observer are only declared, and refuse to run. To resume a run, see
// [Open].
func Recorded(s Source, model pawl.Model, l pawl.Limits) pawl.Agent {
	return project.Recorded((&Refactor{Work: project.Work[finished]{Model: model, Limits: l}, source: s}).Agent())
}
