package repro

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// Bounds on making a test smaller.
const (
	mostTrials = 60
	shrinkTime = 3 * time.Minute
)

// shrinking makes a Go test smaller without changing what it fails by. Its trials are seen by the go
// command alone (see -overlay in go help build), so that the copy never holds one.
type shrinking struct {
	r        *Repro
	t        target
	command  testrun.GoCommand
	original map[string]string // of the files that the project has
	texts    map[string]string // the edited Go files; empty: to be removed
	dir      string
	history  *history
	sure     bool // there is a commit on which the test passes
	trials   int
	accepted int
	until    time.Time
}

// shrink drops what the test does not need: other files, other declarations, the cases of its tables, and
// its statements. A statement may be what makes the assertion true of the right code, so it is only dropped
// where there is a commit on which the test passes, and passes without it, or if it does nothing.
func (r *Repro) shrink(ctx context.Context, t target, h *history, say func(string)) error {
	command, err := testrun.ParseGoCommand(r.source.Test[2:])
	if err != nil {
		say("the test is not made smaller: " + err.Error())
		return nil
	}
	dir, err := os.MkdirTemp(r.source.State, "shrink-")
	if err != nil {
		return fmt.Errorf("make the test smaller: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // the copy is removed with all of it
	s := &shrinking{r: r, t: t, command: command, history: h, sure: h != nil && h.best >= 0, original: map[string]string{}, texts: map[string]string{}, dir: dir, until: time.Now().Add(shrinkTime)}
	spare := map[string]string{} // test data that no test mentions
	for _, name := range r.edited() {
		data, _, err := r.Files.Read(name)
		if err != nil {
			continue // it was never written
		}
		was, err := os.ReadFile(filepath.Join(r.source.Dir, filepath.FromSlash(name)))
		if err == nil {
			s.original[name] = string(was)
		} else if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make the test smaller: %w", err)
		}
		if path.Ext(name) == ".go" {
			s.texts[name] = string(data)
		} else if s.original[name] != string(data) {
			spare[name] = s.original[name]
		}
	}
	size := lines(s.texts)
	if err := s.all(ctx); err != nil {
		return err
	}
	last := s.texts
	for name := range last {
		if last[name] != "" && last[name] != s.original[name] {
			last[name] = tidied(last[name], last[name])
		}
	}
	if s.accepted == 0 {
		return nil
	}
	for range Runs { // what is kept is held to the same as what was found
		if ok, err := s.run(ctx, last, false); err != nil || !ok {
			say("the test stays as it was written, since a smaller one did not fail in every run")
			return err
		}
	}
	for name := range spare {
		if strings.Contains(strings.Join(slices.Collect(maps.Values(last)), "\n"), path.Base(name)) {
			delete(spare, name)
		}
	}
	for name, text := range last {
		if data, _, err := r.Files.Read(name); err == nil && string(data) == text {
			delete(last, name)
		}
	}
	if now := lines(s.texts); now < size {
		say(fmt.Sprintf("left out %d of %d lines of the test, which it does not need to fail", size-now, size))
	}
	maps.Copy(last, spare)
	return r.replace(last)
}

func lines(texts map[string]string) (n int) {
	for _, text := range texts {
		n += strings.Count(text, "\n")
	}
	return n
}

func (s *shrinking) all(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(s.texts))
	for _, name := range names {
		if !slices.Contains(declared(s.texts[name]), s.t.test) {
			if _, err := s.try(ctx, name, s.original[name]); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if s.texts[name] == "" || s.texts[name] == s.original[name] {
			continue
		}
		for n := 0; ; n++ {
			groups := groupsOf(s.texts[name], s.original[name], s.t.test, s.sure)
			if n >= len(groups) {
				break
			}
			if err := s.reduce(ctx, name, groups[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// reduce drops spans of a file, many at once and then fewer, as long as the test fails as it did.
func (s *shrinking) reduce(ctx context.Context, name string, group []span) error {
	text, kept := s.texts[name], slices.Clone(group)
	for chunk := len(kept); chunk > 0; chunk = min((chunk+1)/2, chunk-1) {
		stride := chunk
		if chunk == 2 { // a variable and its only use go together
			stride = 1
		}
		for end := len(kept); end > 0 && len(kept) > 0; end = min(end-stride, len(kept)) {
			fewer := slices.Delete(slices.Clone(kept), max(0, end-chunk), end)
			ok, err := s.try(ctx, name, without(text, group, fewer))
			if err != nil {
				return err
			}
			if ok {
				kept = fewer
			}
		}
	}
	return nil
}

// try takes a text over if the test fails by it as it did.
func (s *shrinking) try(ctx context.Context, name, text string) (bool, error) {
	if text == s.texts[name] || s.trials >= mostTrials || time.Now().After(s.until) {
		return false, nil
	}
	s.trials++
	with := maps.Clone(s.texts)
	if with[name] = text; text != "" && text != s.original[name] {
		with[name] = tidied(text, s.texts[name])
	}
	ok, err := s.run(ctx, with, true)
	if err != nil || !ok {
		return false, err
	}
	if ok, sure, err := s.history.passes(ctx, with, s.original); err != nil || sure && !ok {
		return false, err
	}
	s.accepted++
	s.texts[name] = with[name]
	return true, nil
}

// run reports whether the test fails with these files by what it failed by before.
func (s *shrinking) run(ctx context.Context, texts map[string]string, quick bool) (bool, error) {
	overlay, err := testrun.Overlay(s.dir, texts)
	if err != nil {
		return false, fmt.Errorf("make the test smaller: %w", err)
	}
	args := slices.Concat([]string{overlay, "-count=1"}, s.command.Build, []string{"-run=" + s.r.pattern(s.t.pkg, s.t.test), s.t.pkg}, s.command.Args)
	if quick {
		args = slices.Insert(args, 0, "-vet=off")
	}
	now, err := s.r.Suite.GoTest(ctx, args, s.r.Suite.Longest(), 0)
	if err != nil {
		return false, fmt.Errorf("make the test smaller: %w", err)
	}
	return now.Stopped == nil && alike(s.t.failures, now.Report.Failures), nil
}

// alike reports whether a test fails by nothing but what it failed by before, and by the same values or,
// where it shows none, by the last that it said.
func alike(was, now []gotest.Failure) bool {
	same := false
	for _, f := range now {
		i := slices.IndexFunc(was, func(w gotest.Failure) bool { return w.ID == f.ID && w.Kind == f.Kind })
		if i < 0 {
			return false
		}
		old, said := messages(was[i]), messages(f)
		if slices.ContainsFunc(said, func(m string) bool { return !slices.Contains(old, m) }) {
			return false
		}
		if w := was[i]; w.Got != "" || w.Want != "" {
			same = same || i == 0 && w.Got == f.Got && w.Want == f.Want
		} else {
			same = same || i == 0 && old[len(old)-1] == said[len(said)-1]
		}
	}
	return same
}

var at = regexp.MustCompile(`[\w./-]+\.go:\d+:?`)

// messages is what a failure says, without the lines at which it says it.
func messages(f gotest.Failure) []string {
	var out []string
	for line := range strings.Lines(f.Output) {
		if text := strings.TrimSpace(at.ReplaceAllString(line, "")); text != "" {
			out = append(out, text)
		}
	}
	if out == nil {
		out = []string{""}
	}
	return out
}
