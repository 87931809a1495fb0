package testfix

import "github.com/pawl-run/pawl/fix/internal/project"

// What agents in a copy have in common. A go test command is run with -json, and pytest, also through
// python -m, with --junitxml, so that each test has an identity; of any other command only the exit code
// and the output are known.
type (
	Options = project.Options // the choices that New leaves
	Checked = project.Checked // what the tests said before the first edit; if nothing is open, there is nothing to fix
	Outcome = project.Outcome // what a run came to; its Facts are [Facts]
	Diff    = project.Diff    // what a run changed, in the files that the agent edited
)

// Choices say what a fix may do, and what is kept of it. The zero value edits no tests, and keeps nothing of a
// run that did not succeed.
type Choices struct {
	// AllowTestEdits lets the model change tests and test data. A deleted test then
	// counts as fixed.
	AllowTestEdits bool `json:"allow_test_edits,omitempty"`
	// Keep says what to keep of a run that did not succeed; empty is Nothing.
	Keep Keep `json:"keep"`
}

// Keep says what to keep of a run that did not succeed.
type Keep string

// The choices.
const (
	Nothing Keep = "nothing" // the project stays as it is
	Last    Keep = "last"    // the edits as they were at the end
	Best    Keep = "best"    // the edits after which the most tests passed, none of those open that passed at first
)
