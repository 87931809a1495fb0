package refactor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

const prompt = `You refactor code: you change its form and not what it does. You work in a copy of the project; your changes are applied to the original when you are done and everything below holds.

How to go about it:
- Read the code that the goal is about, its callers and its tests. Work in small steps that each leave the tests passing.
- Tests that there are stay as they are. You may add to them.
- A line that no test executes may not be changed. First add tests of it that pass on the code as it is, and only then change it: they are also run on the code as it was.
- The exported names and their types stay as they are, unless the goal is about them and they may be changed.
- Change nothing that the goal is not about, and do not repair faults: a refactoring keeps them.
- The tests run by themselves after each turn that edits, and what is open is listed. A measure must become less than it was: it is named there.
- undo takes the edits of the last turn back. restore_best returns to the best state that there was.
- When the goal is reached, call finished. If the goal cannot be reached, answer without calling a tool and say why.`

// Names of tools that the mechanic uses.
const (
	toolMechanical = "refactor_by_rules"
	toolFinished   = "finished"
)

// Agent returns the agent. Its observer and tools work in the copy, so it can have one run at a time.
func (r *Refactor) Agent() pawl.Agent {
	return project.Agent(pawl.Agent{
		Name:        "refactor",
		Description: "changes the form of code and not what it does",
		Prompt:      prompt,
		Model:       r.model,
		Tools:       r.tools(),
		Observer:    r.observe,
		Source:      r.source.String(),
	}, "refactor", r.limits)
}

func (r *Refactor) tools() []pawl.Tool {
	tools := append(r.Files.Tools(),
		r.TestTool(),
		tool.FuncWith("undo", "Take the edits of the last turn back, or what was edited since the tests last ran.", r.undo, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
		tool.FuncWith("restore_best", "Return to the best state that there was: of those in which nothing but the measure and finished was open, the one with the lowest measure.", r.restoreBest, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
		tool.FuncWith(toolFinished, "Say that the goal is reached. It counts for the files as they are now.", r.finished, pawl.Read, nil))
	if r.golang() {
		hour := &tool.Options{MaxOutput: testrun.MaxResult, Timeout: time.Hour, External: true, OnDoubt: pawl.DoubtTell}
		tools = append(tools, tool.FuncWith(toolMechanical, "Refactor all of the code in one of the ways that keep what it does by their form, and run the tests. What they do not bear is taken back. "+
			"modernise: newer language and library, as go fix does. early returns: no else after a return, and a guard in place of a long if. inline single use: no variable that only the next statement uses. extract duplicates: statements that are repeated become a function.",
			r.byRules, pawl.Write, hour))
	}
	return tools
}

type none struct{}

func (r *Refactor) undo(ctx context.Context, _ none) (string, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	changed, err := r.Tree.Undo(ctx)
	return restored(changed), err
}

func (r *Refactor) restoreBest(ctx context.Context, _ none) (string, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	_, changed, err := r.Tree.RestoreBest(ctx)
	if errors.Is(err, workspace.ErrUnmarked) {
		err = errors.New("the tests have not run yet, so no state is known to be good")
	}
	return restored(changed), err
}

func restored(changed []string) string {
	if len(changed) == 0 {
		return "nothing to take back"
	}
	return "restored " + strings.Join(changed, ", ")
}

func (r *Refactor) finished(context.Context, none) (string, error) {
	state := r.state()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.memory.Finished = state
	return "noted", r.save()
}

// observe runs the tests if anything has changed.
func (r *Refactor) observe(ctx context.Context) (pawl.Observation, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	l, err := r.look(ctx)
	if err != nil {
		return pawl.Observation{}, err
	}
	v := r.verdict(l)
	return r.Observation(l.state, l.text, v.Text("Nothing is open."), v)
}

// Recorded returns the agent of a run as its source describes it, to replay the run's log. It needs no
// working copy: its tools and its observer are only declared, and refuse to run. To resume a run, see
// [Open].
func Recorded(s Source, model pawl.Model, l pawl.Limits) pawl.Agent {
	return project.Recorded((&Refactor{source: s, model: model, limits: l}).Agent())
}
