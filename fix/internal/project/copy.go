package project

import (
	"cmp"
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
	Tree   *workspace.Tree
	Root   *os.Root
	Files  *Files
	Suite  *testrun.Suite
	Module string // where the copy is in the project

	Running sync.Mutex // held while tests run
	Mu      sync.Mutex // guards the tree, and what the agent knows of it

	told string // the state of the files at the last observation; guarded by Running
}

// TestCommand takes a test command and the variables for it apart, or guesses the command. It returns
// the directory that the command is for: that of a module below dir, which the command or its caller may name.
func TestCommand(dir, module string, test, env []string) (string, testrun.Command, error) {
	var c testrun.Command
	env, err := testrun.Variables(env)
	if err != nil {
		return "", c, err
	}
	if len(test) > 0 {
		if c, err = testrun.ParseCommand(test); err != nil {
			return "", c, err
		}
	}
	if c.Dir = cmp.Or(c.Dir, module); c.Dir == "." {
		c.Dir = ""
	}
	if dir, err = Inside(dir, c.Dir); err == nil && len(test) == 0 {
		c.Argv, err = testrun.Guess(dir)
	}
	c.Env = slices.Concat(env, c.Env)
	return dir, c, err
}

// Make makes a working copy of a project.
func Make(ctx context.Context, dir, state string) (*workspace.Tree, error) {
	return workspace.Copy(ctx, dir, &workspace.Options{Dir: state, Beside: Surroundings(dir), History: true})
}

// Open opens a working copy in c. wrote is called before a file is changed; an error of it prevents
// that. unnamed says what tests without names are no use for; empty: they are of use.
func (c *Copy) Open(t *workspace.Tree, s Source, rule Rule, wrote func(name string, after []byte) error, unnamed string) error {
	tests, err := testrun.New(t.Dir(), s.Test, s.Env, time.Duration(s.Timeout), t.StateDir())
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
	c.Tree, c.Root, c.Suite, c.Module = t, root, tests, s.Module
	c.Files = &Files{Root: root, Rule: rule, Wrote: wrote, Changed: func(string, []byte, []byte) {}, Fixed: CommandFiles(t.Dir(), s.Test)}
	return nil
}

// Dir returns the directory of the working copy.
func (c *Copy) Dir() string { return c.Tree.Dir() }

// Difference returns what the copy changes in the project now, in the files that were edited: not what
// running the tests has changed.
func (c *Copy) Difference(ctx context.Context, edited func(name string) bool) (Diff, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Changed(ctx, edited)
}

// Changed is Difference for a caller that holds Mu.
func (c *Copy) Changed(ctx context.Context, edited func(name string) bool) (Diff, error) {
	d, err := c.Tree.Diff(ctx)
	if err != nil {
		return Diff{}, err
	}
	return Diff{d.Only(func(c workspace.Change) bool { return edited(c.Path) }), c.Module}, nil
}

// Apply writes a difference to the project, all or none. It refuses when a file that it touches has
// changed there since the copy was made. Applying it again does nothing.
func (c *Copy) Apply(d Diff) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Tree.Apply(d.Changes)
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

// TestTool is the tool that runs the tests.
func (c *Copy) TestTool() pawl.Tool {
	return tool.FuncWith("run_tests", "Run some of the tests, or all, and get each failure with its message and place. After an edit they run by themselves.",
		func(ctx context.Context, a testrun.Args) (testrun.Details, error) {
			if _, err := regexp.Compile(a.Run); err != nil {
				return testrun.Details{}, fmt.Errorf("run: %w", err)
			}
			c.Running.Lock()
			defer c.Running.Unlock()
			now, err := c.Suite.Run(ctx, a.Run)
			if err != nil {
				return testrun.Details{}, err
			}
			return now.Details(), nil
		}, pawl.Read, &tool.Options{MaxOutput: testrun.MaxResult, Timeout: 15 * time.Minute, External: true, Alone: true})
}

// A Diff is what a run changed in a project.
type Diff struct {
	Changes workspace.Diff // with paths relative to the module
	Module  string         // where that is in the project
}

// String returns the diff in git's unified form, with paths relative to the project; empty: nothing
// changed.
func (d Diff) String() string { return d.Changes.Beneath(d.Module).String() }

// Empty reports whether nothing changed.
func (d Diff) Empty() bool { return d.Changes.Empty() }

// Files returns the paths that changed, relative to the project, sorted.
func (d Diff) Files() []string {
	var paths []string
	for _, c := range d.Changes.Beneath(d.Module).Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// Tests returns those of the paths that are tests or their data.
func (d Diff) Tests() []string {
	return slices.DeleteFunc(d.Files(), func(name string) bool { return !IsTest(name) })
}
