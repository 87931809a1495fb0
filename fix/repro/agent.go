package repro

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

const prompt = `You reproduce a bug: you write a test that fails because of it. You work in a copy of the project; your test is added to the original when it fails as it should.

How to go about it:
- Read the description, then the code that it is about and its tests. Find out what it should do, and what it does.
- Add one small test of what the code should do, in the style of its tests. Its name says what is wrong.
- Only tests may be edited. Add to them: what is there stays as it is. Do not repair the bug.
- The test must fail by its own assertion: t.Errorf or t.Fatalf in Go, assert in Python. A test that does not build, panics, imports what is missing or does not end shows nothing. If the bug is a panic or a call that does not return, catch it in the test (recover, a channel with a time-out) and fail by an assertion.
- It must fail in every run: no real time, network, random numbers or order of maps.
- Test what the description says, through the code as it is used. Assert nothing that a fix would make wrong.
- The tests run by themselves after each turn that edits. The run ends when your test fails in five of five runs and every other test does what it did before.
- When you are sure that the bug is not there, answer without calling a tool and say why.`

// Agent returns the agent. Its observer and tools work in the copy, so it can have one run at a time.
func (r *Repro) Agent() pawl.Agent {
	return project.Agent(pawl.Agent{
		Name:        "repro",
		Description: "writes a failing test for a bug",
		Prompt:      prompt,
		Model:       r.Model,
		Tools:       r.tools(),
		Observer:    r.observe,
		Source:      r.source.String(),
	}, r.Limits)
}

func (r *Repro) tools() []pawl.Tool { return append(r.Files.Tools(), r.TestTool()) }

// observe runs the tests if anything has changed.
func (r *Repro) observe(ctx context.Context) (pawl.Observation, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	l, err := r.look(ctx)
	if err != nil {
		return pawl.Observation{}, err
	}
	return r.Observation(l.state, l.text, l.Text("The new test fails as it should: "+l.Test), l.verdict)
}

// Recorded returns the agent of a run as its source describes it, to replay the run's log. It needs no
// working copy: its tools and its observer are only declared, and refuse to run. To resume a run, see
// [Open].
func Recorded(s Source, model pawl.Model, l pawl.Limits) pawl.Agent {
	return project.Recorded((&Repro{Work: project.Work[struct{}]{Model: model, Limits: l}, source: s}).Agent())
}
