package testfix

import (
	"context"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/cover"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/propose"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/tool"
)

// Limits of one search for an edit.
const (
	mostEdits  = 400 // edits
	searchTime = 10 * time.Minute
	patience   = 20 // edits tried after one that makes some of the failing tests pass
)

// mechanical reports whether a model is the mechanic, which needs a tool of its own.
func mechanical(m pawl.Model) bool {
	d, ok := m.(pawl.Describer)
	return ok && d.Describe().Name == project.Mechanic
}

func (f *Fix) repairTool() pawl.Tool {
	return tool.FuncWith(project.RepairTool, "Try small edits of the code, one at a time, and make the first with which failing tests pass and no other test fails.",
		func(ctx context.Context, _ project.Round) (project.Repaired, error) { return f.repair(ctx) },
		pawl.Idempotent, &tool.Options{Timeout: searchTime + time.Minute, External: true, Alone: true})
}

// repair searches for an edit for the failing tests of one package after the other.
func (f *Fix) repair(ctx context.Context) (project.Repaired, error) {
	f.Running.Lock()
	defer f.Running.Unlock()
	base, err := f.current(ctx)
	if err != nil {
		return project.Repaired{}, err
	}
	dir, err := os.MkdirTemp(f.Tree.StateDir(), "repair-")
	if err != nil {
		return project.Repaired{}, fmt.Errorf("try edits: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithTimeoutCause(ctx, searchTime, errEnough)
	defer stop()
	r := &repairing{fix: f, base: base, dir: dir}
	targets := targetsOf(base.ran.Report)
	if len(targets) == 0 {
		return project.Repaired{Summary: "It has no test to go by. Failing: " + some(base.verdict.Open, 10) + "."}, nil
	}
	if err := r.load(ctx, targets); err != nil {
		return project.Repaired{}, err
	}
	for _, t := range targets {
		found, err := r.search(ctx, t)
		if err != nil && !errors.Is(err, errEnough) {
			return project.Repaired{}, err
		}
		if found == nil {
			continue
		}
		if err := f.make(*found); err != nil {
			return project.Repaired{}, err
		}
		return project.Repaired{Summary: fmt.Sprintf("%d edits tried; made: %s", r.tried, found), Edit: found.String(), Tried: r.tried}, nil
	}
	return project.Repaired{Tried: r.tried, Summary: fmt.Sprintf("None of the %d small edits tried makes a failing test pass and breaks no other. Still failing: %s.",
		r.tried, some(base.verdict.Open, 10))}, nil
}

// errEnough ends a search whose time is over.
var errEnough = errors.New("the time for the search is over")

// make writes an edit into the copy, formatted if the file was.
func (f *Fix) make(e propose.Edit) error {
	text, perm, err := f.Files.Read(e.File)
	if err != nil {
		return err
	}
	after := []byte(e.Apply(text))
	if was, err := format.Source(text); err == nil && string(was) == string(text) {
		if now, err := format.Source(after); err == nil {
			after = now
		}
	}
	return f.Files.Write(e.File, after, perm)
}

// repairing is one search. Edits are laid over the files for the go command alone, so that a process that
// dies leaves none of them behind.
type repairing struct {
	fix    *Fix
	base   cached
	module *propose.Module
	dir    string
	tried  int
}

// target is a package with its failing tests.
type target struct {
	pkg      string
	failures []gotest.Failure
}

func targetsOf(report gotest.Report) (list []target) {
	for _, x := range report.Failures {
		if x.Test == "" && x.Kind != gotest.KindBuild {
			continue
		}
		i := slices.IndexFunc(list, func(t target) bool { return t.pkg == x.Package })
		if i < 0 {
			i, list = len(list), append(list, target{pkg: x.Package})
		}
		list[i].failures = append(list[i].failures, x)
	}
	return list
}

// builds reports whether the package does, so that its tests run.
func (t target) builds() bool { return t.failures[0].Kind != gotest.KindBuild }

// pattern picks the failing tests, without naming their subtests; it is empty if none can run.
func (t target) pattern() string {
	if !t.builds() {
		return ""
	}
	var names []string
	for _, x := range t.failures {
		top, _, _ := strings.Cut(x.Test, "/")
		if top = regexp.QuoteMeta(top); !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// search tries edits for a target, some at once, and returns the first of them that makes every failing test
// of it pass, else the first that makes some pass; nil: there is none.
func (r *repairing) search(ctx context.Context, t target) (*propose.Edit, error) {
	covered, err := r.coverage(ctx, t)
	if err != nil {
		return nil, err
	}
	edits := r.module.Edits(propose.Hints{Failures: t.failures, Covered: covered}) // the likeliest first
	var partly *propose.Edit
	left := mostEdits - r.tried
	for slots := min(8, runtime.GOMAXPROCS(0)); len(edits) > 0 && left > 0; {
		batch := edits[:min(slots, left, len(edits))]
		edits, left, r.tried = edits[len(batch):], left-len(batch), r.tried+len(batch)
		for i, passed := range r.try(ctx, t, batch) {
			if passed == 0 || passed < len(t.failures) && partly != nil {
				continue
			}
			ok, err := r.better(ctx, t, batch[i])
			switch {
			case err != nil:
				return nil, err
			case ok && passed == len(t.failures):
				return &batch[i], nil
			case ok:
				partly, left = &batch[i], min(left, patience)
			}
		}
		if ctx.Err() != nil {
			return partly, context.Cause(ctx)
		}
	}
	return partly, nil
}

// load reads the code of the targets, and sorts them so that a package comes after those that it imports.
func (r *repairing) load(ctx context.Context, targets []target) error {
	var packages []string
	for _, t := range targets {
		packages = append(packages, t.pkg)
	}
	s := r.fix.Suite
	listed, err := s.GoTool(ctx, slices.Concat(propose.ListFlags, testrun.Listable(s.Argv[2:]), []string{"--"}, packages)...)
	if err != nil {
		return err
	}
	r.module, err = propose.Load(listed, s.Dir, func(name string) ([]byte, error) {
		text, _, err := r.fix.Files.Read(name)
		return text, errors.Join(err, r.fix.Files.Writable(name))
	})
	if err != nil {
		return err
	}
	at := func(t target) int { return slices.Index(r.module.Paths, t.pkg) }
	slices.SortStableFunc(targets, func(a, b target) int { return at(a) - at(b) })
	return nil
}

// trial is a suite for code that a program changed.
func (r *repairing) trial() *testrun.Suite {
	s := *r.fix.Suite
	s.Trial, s.Seen = true, nil
	return &s
}

// coverage returns the lines that the failing tests execute; nil: they leave no profile, as after a panic.
func (r *repairing) coverage(ctx context.Context, t target) (map[string][]propose.Lines, error) {
	if !t.builds() { // the compiler has said where
		return map[string][]propose.Lines{}, nil
	}
	profile := filepath.Join(r.dir, "profile")
	s := r.trial()
	command := testrun.With(s.Only([]string{t.pkg}), "-vet=off", "-coverprofile="+profile, "-coverpkg="+strings.Join(r.module.Paths, ","))
	if _, err := s.Once(ctx, command, t.pattern()); err != nil {
		return nil, err
	}
	profiles, _ := cover.ParseProfiles(profile) // none was written if it fails
	covered := map[string][]propose.Lines{}
	for _, p := range profiles {
		for _, b := range p.Blocks {
			if name, ok := r.module.File(p.FileName); ok && b.Count > 0 {
				covered[name] = append(covered[name], propose.Lines{From: b.StartLine, To: b.EndLine})
			}
		}
	}
	if len(covered) == 0 {
		return nil, nil //nolint:nilnil // nothing was executed
	}
	return covered, nil
}

// try runs the failing tests with each of some edits at once, and returns how many of them pass.
func (r *repairing) try(ctx context.Context, t target, edits []propose.Edit) []int {
	passed := make([]int, len(edits))
	var group sync.WaitGroup
	for i, e := range edits {
		group.Go(func() {
			s := r.trial()
			overlay, err := r.overlay(e, strconv.Itoa(i))
			if err != nil {
				return
			}
			now, err := s.Once(ctx, testrun.With(s.Only([]string{t.pkg}), "-vet=off", overlay), t.pattern())
			if err != nil {
				return // the search ends, or it does not build
			}
			fixed := gotest.Compare(r.base.ran.Report, now.Report).Fixed
			for _, x := range t.failures {
				if slices.Contains(fixed, x.ID) {
					passed[i]++
				}
			}
		})
	}
	group.Wait()
	return passed
}

// overlay returns the flag that lays an edit over its file.
func (r *repairing) overlay(e propose.Edit, slot string) (string, error) {
	text, _, err := r.fix.Files.Read(e.File)
	if err != nil {
		return "", err
	}
	return testrun.Overlay(filepath.Join(r.dir, slot), e.File, e.Apply(text))
}

// better runs all tests with an edit. It reports whether some are fixed and none is broken or gone. Where
// nothing was built, each test that runs then must pass.
func (r *repairing) better(ctx context.Context, t target, e propose.Edit) (bool, error) {
	overlay, err := r.overlay(e, "all")
	if err != nil {
		return false, err
	}
	now, err := r.trial().Once(ctx, testrun.With(r.fix.Suite.Argv, overlay), "")
	if err != nil {
		return false, err
	}
	d := gotest.Compare(r.base.ran.Report, now.Without(r.fix.Flaky()).Report)
	return len(d.Fixed) > 0 && len(d.Broken) == 0 && len(d.Hidden) == 0 && (t.builds() || len(d.Revealed) == 0), nil
}
