package testfix

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/workspace"
)

// The state directory next to the copy holds what a fix knows: the files it edited, the test
// results before the first edit and which of them are flaky, the best state reached, and what
// was tried. None of this is in the log, since it belongs to the copy.
const (
	editedName = "fix-edited"
	firstName  = "fix-first.json"
	bestName   = "fix-best.json"
	courseName = "fix-course.json"
)

// best is the state with the fewest open tests so far, none of which passed at first.
type best struct {
	Open   int            `json:"open"`
	Passed int            `json:"passed"`
	Report gotest.Report  `json:"report"`
	Diff   workspace.Diff `json:"diff"`
}

// below reports whether a later state is better. A test that had no verdict in the best state and
// fails now does not count against the later state; one that has lost its verdict does.
func (b *best) below(v verdict, now gotest.Report, edits bool) bool {
	d := gotest.Compare(b.Report, now)
	open := 0
	for _, id := range v.Open {
		if !slices.Contains(d.Revealed, id) {
			open++
		}
	}
	for _, id := range slices.Concat(d.Still, d.Hidden) {
		if !edits && !slices.Contains(v.Open, id) && !slices.Contains(v.Flaky, id) {
			open++
		}
	}
	return open < b.Open || open == b.Open && v.Passed > b.Passed
}

// wrote notes that a file is about to be edited, durably and before it is: a
// file that is noted and not edited does no harm.
func (f *Fix) wrote(name string, _ []byte) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.edited[name] {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(f.Tree.StateDir(), editedName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("note the edit: %w", err)
	}
	_, err = file.WriteString(name + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("note the edit: %w", err)
	}
	f.edited[name] = true
	return nil
}

// recall reads what an earlier process noted. A last line without an end was
// cut short before its edit began.
func (f *Fix) recall() error {
	text, err := os.ReadFile(filepath.Join(f.Tree.StateDir(), editedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("recall the edited files: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, whole := strings.CutSuffix(line, "\n"); whole {
			f.edited[name] = true
		}
	}
	var first struct {
		Report gotest.Report `json:"report"`
		Code   int           `json:"code"`
		Go     bool          `json:"go"`
		Pytest bool          `json:"pytest"`
		Flaky  []string      `json:"flaky"`
		Away   []string      `json:"away"`
	}
	if found, err := f.load(firstName, &first); err != nil {
		return err
	} else if found {
		f.first = &testrun.Result{Report: first.Report, Golang: first.Go, Pytest: first.Pytest, Exit: process.Exit{Code: first.Code}}
		f.flaky, f.away = first.Flaky, first.Away
	}
	if _, err := f.load(courseName, &f.course); err != nil {
		return err
	}
	var b best
	if found, err := f.load(bestName, &b); err != nil {
		return err
	} else if found {
		f.best = &b
	}
	return nil
}

// remember takes a run in: the first as what all others are measured by, and
// any that is better than the best with the edits that led to it.
func (f *Fix) remember(ctx context.Context, now testrun.Result) (verdict, error) {
	if f.first == nil {
		f.first = &now
		if err := f.saveFirst(); err != nil {
			f.first = nil
			return verdict{}, err
		}
	}
	v := judge(*f.first, now, f.source.AllowTestEdits)
	v.Flaky = f.flaky
	if f.best != nil && (!f.best.below(v, now.Report, f.source.AllowTestEdits) || regressed(f.first.Report, v)) {
		return v, nil
	}
	b := best{Open: len(v.Open), Passed: v.Passed, Report: now.Report}
	if len(f.edited) > 0 {
		d, err := f.diff(ctx)
		if err != nil {
			return verdict{}, err
		}
		b.Diff = d.Changes
	}
	if err := f.save(bestName, b); err != nil {
		return verdict{}, err
	}
	f.best = &b
	return v, nil
}

func (f *Fix) saveFirst() error {
	n := f.first
	return f.save(firstName, map[string]any{"report": n.Report, "code": n.Exit.Code, "go": n.Golang, "pytest": n.Pytest, "flaky": f.flaky, "away": f.away})
}

// regressed reports whether anything is open that passed at first: such a state is not worth
// keeping, however few are open.
func regressed(first gotest.Report, v verdict) bool {
	for _, p := range first.Packages {
		for _, t := range p.Tests {
			if t.Status == gotest.StatusPass && slices.Contains(v.Open, p.ID(t.Name)) {
				return true
			}
		}
	}
	return false
}

func (f *Fix) load(name string, v any) (bool, error) {
	return project.Load(f.Tree.StateDir(), name, v)
}

func (f *Fix) save(name string, v any) error { return project.Save(f.Tree.StateDir(), name, v) }
