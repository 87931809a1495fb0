package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

// A Copy is a working copy of a project, whose tests have names, as its agent has it.
type Copy struct {
	Tree  *workspace.Tree
	Root  *os.Root
	Files *Files
	Suite *testrun.Suite

	Running sync.Mutex // held while tests run
	Mu      sync.Mutex // guards the tree, and what the agent knows of it

	told string // the state of the files at the last observation; guarded by Running
}

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
	// minute for go test, unless the command has its own -timeout, and ten minutes otherwise. After the first
	// run of go test, packages get five times the time of the slowest, at least five seconds and at most
	// Timeout: an edit may make a program run forever.
	Timeout time.Duration
	// Limits override the agent's own limits, field by field.
	Limits pawl.Limits
}

// Make makes a working copy of a project and its source. It guesses the test command if none is given.
func Make(ctx context.Context, dir string, o Options) (*workspace.Tree, Source, error) {
	env, err := testrun.Variables(o.Env)
	if err != nil {
		return nil, Source{}, err
	}
	argv, own := o.Test, []string(nil)
	if len(argv) == 0 {
		argv, err = testrun.Guess(dir)
	} else {
		own, argv, err = testrun.ParseCommand(argv)
	}
	if err != nil {
		return nil, Source{}, err
	}
	t, err := workspace.Copy(ctx, dir, &workspace.Options{Dir: o.StateDir, Beside: Surroundings(dir)})
	if err != nil {
		return nil, Source{}, err
	}
	return t, Source{Dir: t.Source(), State: t.StateDir(), Test: argv, Env: slices.Concat(env, own), Timeout: o.Timeout}, nil
}

// Open opens a working copy in c. wrote is called before a file is changed; an error of it prevents
// that. unnamed says what tests without names are no use for; empty: they are of use.
func (c *Copy) Open(t *workspace.Tree, s Source, rule Rule, wrote func(name string, after []byte) error, unnamed string) error {
	tests, err := testrun.New(t.Dir(), s.Test, s.Env, s.Timeout, t.StateDir())
	if err != nil {
		return err
	}
	if unnamed != "" && !tests.Named() {
		return fmt.Errorf("the tests that %q runs have no names, so %s; name a command of go test or pytest", strings.Join(s.Test, " "), unnamed)
	}
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return fmt.Errorf("open the working copy: %w", err)
	}
	c.Tree, c.Root, c.Suite = t, root, tests
	c.Files = &Files{Root: root, Rule: rule, Wrote: wrote, Fixed: CommandFiles(t.Dir(), s.Test)}
	return nil
}

// Dir returns the directory of the working copy.
func (c *Copy) Dir() string { return c.Tree.Dir() }

// Apply writes a difference to the project, all or none. It refuses when a file that it touches has
// changed there since the copy was made. Applying it again does nothing.
func (c *Copy) Apply(d Diff) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Tree.Apply(d.Diff)
}

// Release lets go of the working copy and leaves it for another process, as when the run is parked.
func (c *Copy) Release() error { return c.Root.Close() }

// Close removes the working copy and all that is known of it.
func (c *Copy) Close() error {
	err := c.Root.Close()
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return errors.Join(err, c.Tree.Close())
}

// TestTool is the tool that runs the tests. flaky lists those that are left out.
func (c *Copy) TestTool(flaky func() []string) pawl.Tool {
	return tool.FuncWith("run_tests", "Run some of the tests, or all, and get each failure with its message and place. After an edit they run by themselves.",
		func(ctx context.Context, a runArgs) (string, error) {
			if _, err := regexp.Compile(a.Run); err != nil {
				return "", fmt.Errorf("run: %w", err)
			}
			c.Running.Lock()
			defer c.Running.Unlock()
			now, err := c.Suite.Run(ctx, a.Run)
			return now.Without(flaky()).Summary(mostSummary), err
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
