package testfix

import (
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/names"
)

// Options are the choices that New leaves. The zero value is right for a Go
// module.
type Options struct {
	// Test is the command that runs the tests, as an argument vector. Nil is
	// go test ./... when the project has a go.mod, and pytest when it has a
	// pyproject.toml, a pytest.ini or a conftest.py. A go test command is run
	// with -json, and pytest, also through python -m, with --junitxml, so that
	// each test has an identity; of any other command only the exit code and the
	// output are known. It may begin with NAME=VALUE, as in a shell, and with env.
	Test []string
	// Env lists variables that the tests get besides the usual few and the toolchain's own:
	// NAME to pass one on, or NAME=VALUE. The second form is recorded with the run; pass
	// secrets by name.
	Env []string
	// AllowTestEdits lets the model change tests and test data. A deleted test then
	// counts as fixed.
	AllowTestEdits bool
	// Keep says what to keep of a run that did not succeed; zero is Nothing.
	Keep Keep
	// StateDir is where working copies are made; empty is the system's place
	// for temporary files. It must not be inside the project.
	StateDir string
	// Timeout is how long the tests of one package, or a test command other than go
	// test, may take. Zero is one minute for go test, unless the command has its own
	// -timeout, and ten minutes otherwise. After the first run of go test, packages
	// get five times the time of the slowest, at least five seconds and at most
	// Timeout: an edit may make a program run forever.
	Timeout time.Duration
	// Limits override the agent's own limits, field by field.
	Limits pawl.Limits
}

// Keep says what to keep of a run that did not succeed.
type Keep int

// The choices.
const (
	Nothing Keep = 1 + iota // the project stays as it is
	Last                    // the edits as they were at the end
	Best                    // the edits after which the fewest tests were open, none of which passed at first
)

var keepNames = names.Make[Keep]("keep", []string{"nothing", "last", "best"})

// String returns the choice's name.
func (k Keep) String() string { return keepNames.String(k) }

// MarshalText writes the choice's name.
func (k Keep) MarshalText() ([]byte, error) { return keepNames.Marshal(k) }

// UnmarshalText reads the choice's name.
func (k *Keep) UnmarshalText(b []byte) error { return keepNames.Unmarshal(k, b) }
