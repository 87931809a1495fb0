package testfix

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

const prompt = `You fix a project whose tests fail. You work in a copy of it; your edits are applied to the original only when every test passes.

How to go about it:
- Each observation is a run of the tests: what is open, what the tests said and where. Read the messages, then the tests, then the code they are about, and find the cause before you edit anything.
- Fix the cause in the code under test. Do not weaken or work around a test, and write no code for its own inputs.
- Make one small edit at a time. The tests run by themselves after each turn that edits; run_tests is for a closer look. What passed before and fails now, your last edit broke: revert or fix it.
- Do not try again what did not help: the cause is elsewhere.
- Read a file before you edit it, and copy the text to replace exactly. Use write_file for new files only.
- Tests named as no part of the goal are not your task.
- When it cannot be done, answer without calling a tool and say why. Do not report that tests pass: the run observes that.`

// Agent returns the agent. Its observer and tools work in the copy, so it can
// have one run at a time.
func (f *Fix) Agent() pawl.Agent {
	return project.Agent(pawl.Agent{
		Name:        "fix",
		Description: "fixes the failing tests of a project",
		Prompt:      f.prompt(),
		Model:       f.Model,
		Tools:       f.tools(),
		Observer:    f.observe,
		Source:      f.source.String(),
	}, f.Limits)
}

func (f *Fix) prompt() string {
	if f.source.AllowTestEdits {
		return prompt + "\nYou may edit tests, where a test itself is wrong."
	}
	return prompt + "\nTest files and test data are read-only."
}

// Recorded returns the agent of a run as its source describes it, to replay the run's log. It
// needs no working copy: its tools and its observer are only declared, and refuse to run. To
// resume a run, see [Open].
func Recorded(s Source, model pawl.Model, l pawl.Limits) pawl.Agent {
	return project.Recorded((&Fix{Work: project.Work[known]{Model: model, Limits: l}, source: s}).Agent())
}
