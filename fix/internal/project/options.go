package project

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

// Options are the choices that each agent in a copy has. The zero value is right for a Go module.
type Options struct {
	// Test is the command that runs the tests, as an argument vector. Nil is go test ./... when the project
	// has a go.mod, and pytest when it has a pyproject.toml, a pytest.ini or a conftest.py. It may begin with
	// NAME=VALUE, as in a shell, and with env.
	Test []string
	// Env lists variables that the tests get besides the usual few and the toolchain's own: NAME to pass one
	// on, or NAME=VALUE. The second form is recorded with the run; pass secrets by name.
	Env []string
	// StateDir is where working copies are made; empty is the system's place for temporary files. It must not
	// be inside the project.
	StateDir string
	// Timeout is how long the tests of one package may take, or a test command other than go test. Zero is one
	// minute for go test, unless the command has its own -timeout, and ten minutes otherwise. After the first run
	// of go test, packages get five times the time of the slowest, and at least five seconds, but no more than this.
	Timeout time.Duration
	// Limits override the agent's own limits, field by field.
	Limits pawl.Limits
}

// TestTool is the tool that runs the tests.
func (w *Work[M]) TestTool() pawl.Tool {
	return tool.FuncWith("run_tests", "Run some of the tests, or all, and get each failure with its message and place. After an edit they run by themselves.",
		func(ctx context.Context, a runArgs) (string, error) {
			if _, err := regexp.Compile(a.Run); err != nil {
				return "", fmt.Errorf("run: %w", err)
			}
			w.Running.Lock()
			defer w.Running.Unlock()
			now, err := w.Suite.Run(ctx, a.Run)
			return now.Without(w.Flaky()).Summary(mostSummary), err
		}, pawl.Read, &tool.Options{MaxOutput: 6 * mostSummary, Timeout: 15 * time.Minute, External: true, Alone: true})
}

type runArgs struct {
	Run string `json:"run,omitempty" jsonschema:"which tests: for go test a regular expression as -run takes it, such as ^TestSum$; for pytest an identity (file::test) or an expression as -k takes it; all tests when left out"`
}

// mostSummary is how many bytes the result has. In JSON a byte may take six.
const mostSummary = 32 << 10

// A Diff is what a run changed in a project. Its text is in git's unified form.
type Diff struct{ workspace.Diff }

// Files returns the paths that changed, sorted.
func (d Diff) Files() (paths []string) {
	for _, c := range d.Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// Tests returns those of the paths that are tests or their data.
func (d Diff) Tests() []string {
	return slices.DeleteFunc(d.Files(), func(name string) bool { return !IsTest(name) })
}
