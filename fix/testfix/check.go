package testfix

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"go/build/constraint"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// ErrNoTests is wrapped by the error of [Fix.Check] when the test command ran no test.
var ErrNoTests = errors.New("no test ran")

// Checked is what the tests said before the first edit.
type Checked struct {
	Passed int
	Open   []string // the failing tests, sorted; empty: there is nothing to fix
	// Elsewhere are tests that fail in the copy and pass in the project, and Why what may be the
	// reason. They are no part of the goal.
	Elsewhere []string
	Why       string
	// Unbuilt is what the go command said of the first package that does not build.
	Unbuilt string
}

// Check runs the tests once, before a model is asked for anything, and returns an error that says
// what to do if no edit can help: there is no test, pytest is missing, or what fails does so only
// in the copy. The run that follows does not run the tests again. For a model with an endpoint it also
// finds out what [Fix.Input] says of the failures. While the tests run, seen is called
// with the number of packages that have ended, and of those that failed; nil: it is not called.
func (f *Fix) Check(ctx context.Context, seen func(packages, failed int)) (Checked, error) {
	f.Suite.Seen = seen
	now, err := f.current(ctx)
	f.Suite.Seen = nil
	if err != nil {
		return Checked{}, err
	}
	v := now.verdict
	f.Mu.Lock()
	c := Checked{Passed: v.Passed, Open: v.Open, Elsewhere: f.away}
	f.Mu.Unlock()
	if len(c.Elsewhere) > 0 {
		c.Why = f.whyElsewhere()
	}
	if err := testrun.NoPytest(now.report(), f.source.Test); err != nil && now.ran.Pytest {
		return c, err
	}
	for _, x := range now.report().Failures {
		if x.Kind != gotest.KindBuild && x.Kind != gotest.KindSetup {
			continue
		}
		if c.Unbuilt == "" {
			c.Unbuilt = x.ID
			if why, ok := unbuiltBy(gotest.Report{}, gotest.Report{Failures: []gotest.Failure{x}}); ok {
				c.Unbuilt += ": " + why
			}
		}
	}
	switch {
	case now.ran.NoCommand(f.source.Test):
		return c, fmt.Errorf("the test command %q does not exist; name the one that runs the tests, such as go test ./...: %s", strings.Join(f.source.Test, " "), strings.TrimSpace(now.ran.Output))
	case slices.Equal(c.Open, []string{testrun.NoTests}):
		return c, f.noTest()
	case len(c.Open) == 0 && c.Passed == 0 && len(c.Elsewhere) > 0:
		return c, fmt.Errorf("every failing test passes in the project and fails in the copy of it: %s; %s", some(c.Elsewhere, 5), c.Why)
	}
	f.lead(ctx, now)
	return c, ctx.Err()
}

// whyElsewhere says what may distinguish the copy from the project.
func (f *Fix) whyElsewhere() string {
	if left := f.Tree.LeftOut(); len(left) > 0 {
		return fmt.Sprintf("the copy does not have %s (%s)", left[0].Path, left[0].Why)
	}
	return "the copy has all files of the project and another path, so they may depend on the path or on directories around it"
}

// noTest says why the test command ran no test.
func (f *Fix) noTest() error {
	if !testrun.IsGoTest(f.source.Test) {
		return fmt.Errorf("%w; write a failing test first, or name the command that runs the tests", ErrNoTests)
	}
	files, hidden, tags := 0, 0, map[string]bool{}
	_ = fs.WalkDir(f.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // the go command says it better
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		if missing := missingTags(f.Tree.Dir(), name); len(missing) > 0 {
			hidden++
			for _, tag := range missing {
				tags[tag] = true
			}
		}
		return nil
	})
	if files == 0 {
		return fmt.Errorf("%w: %s has no _test.go file; write a failing test first", ErrNoTests, f.source.Dir)
	}
	if hidden < files {
		return fmt.Errorf("%w: %s has test files, but %q runs none of their tests", ErrNoTests, f.source.Dir, strings.Join(f.source.Test, " "))
	}
	var names []string
	for tag := range tags {
		names = append(names, tag)
	}
	slices.Sort(names)
	return fmt.Errorf("%w: all test files are behind build tags; name them, as in --test %q", ErrNoTests, "go test -tags "+strings.Join(names, ",")+" ./...")
}

// missingTags returns the build tags that a file asks for and that are not set.
func missingTags(dir, name string) []string {
	at, base := filepath.Join(dir, filepath.FromSlash(path.Dir(name))), path.Base(name)
	if match, err := build.Default.MatchFile(at, base); match || err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(at, base))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			break
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		expr, err := constraint.Parse(line)
		if err != nil {
			return nil
		}
		var missing []string
		expr.Eval(func(tag string) bool {
			if tag == build.Default.GOOS || tag == build.Default.GOARCH || slices.Contains(build.Default.ReleaseTags, tag) {
				return true
			}
			missing = append(missing, tag)
			return false
		})
		return missing
	}
	return nil
}
