package repro

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
)

// Bounds on the search through the history.
const (
	mostSteps   = 24
	mostCommits = 10_000
	sinceTime   = 5 * time.Minute
)

// Since is since when a test fails.
type Since struct {
	Commit  string // the first bad commit; empty: it is not known
	Subject string // of its message
	Note    string // what was found out, in a sentence
	Steps   int    // on how many commits the test was run
}

// history is what the test says on the commits of the copy's repository.
type history struct {
	r     *Repro
	t     target
	dir   string // a work tree beside the copy
	files map[string]string
	list  []string // the commits, latest first, by first parents
	known map[int]outcome
	best  int // the latest commit that is known to be good; negative: none is
	steps int
	until time.Time
}

type outcome int

const (
	good    outcome = iota + 1 // the test passes
	bad                        // it fails by its assertion
	skipped                    // it says nothing, as where it does not build
)

// since runs the test on older commits, as git bisect does, to find the first on which it fails.
func (r *Repro) since(ctx context.Context, t target, say func(string)) (Since, *history, error) {
	if _, err := os.Stat(filepath.Join(r.Dir(), ".git")); err != nil {
		return Since{Note: "the project is not the top of a git repository, so the commit that brought the bug was not searched"}, nil, nil
	}
	h := &history{best: -1, r: r, t: t, dir: filepath.Join(filepath.Dir(r.Dir()), "pawl-since"), known: map[int]outcome{}, until: time.Now().Add(sinceTime)}
	out, err := git(ctx, r.Dir(), "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", mostCommits), "HEAD")
	if h.list = strings.Fields(out); err != nil || len(h.list) == 0 {
		return Since{Note: "the repository has no commits, so the one that brought the bug was not searched"}, nil, nil //nolint:nilerr // that is what the error is
	}
	if h.files, err = r.tests(); err != nil {
		return Since{}, nil, err
	}
	say("running the test on older commits")
	if err := os.RemoveAll(h.dir); err != nil { // of a process that died
		return Since{}, nil, fmt.Errorf("search the history: %w", err)
	}
	if _, err := git(ctx, r.Dir(), "worktree", "add", "--force", "--detach", "--no-checkout", h.dir, h.list[0]); err != nil {
		return Since{}, nil, fmt.Errorf("search the history: %w", err)
	}
	found, err := h.search(ctx)
	if err != nil {
		h.close()
		return Since{}, nil, fmt.Errorf("search the history: %w", err)
	}
	found.Steps = h.steps
	if found.Commit != "" {
		found.Subject, err = git(ctx, r.Dir(), "show", "--no-patch", "--format=%s", found.Commit)
		found.Subject = strings.TrimSpace(found.Subject)
		found.Note += " (" + found.Subject + ")"
	}
	return found, h, err
}

// close removes the work tree.
func (h *history) close() {
	if h != nil {
		_ = os.RemoveAll(h.dir) // the copy is removed with all of it
	}
}

// passes reports whether the test passes on a commit that is known to be good, with other texts of some
// of its files; sure is false if there is no such commit.
func (h *history) passes(ctx context.Context, texts, original map[string]string) (ok, sure bool, err error) {
	if h == nil || h.best < 0 {
		return false, false, nil
	}
	h.files = maps.Clone(h.files)
	for name, text := range texts {
		delete(h.files, name)
		delete(h.files, beside(name))
		if text != "" && text != original[name] {
			to, alone := aged(name, text, original[name])
			h.files[to] = alone
		}
	}
	o, err := h.at(ctx, h.best)
	return o == good, true, err
}

// aged is a file as an older commit can take it, which may have another form of it.
func aged(name, text, original string) (to, alone string) {
	if path.Ext(name) == ".go" && original != "" {
		return beside(name), extract(text, original)
	}
	return name, text
}

func beside(name string) string { return strings.TrimSuffix(name, "_test.go") + "_pawl_repro_test.go" }

// tests are the files that the test is in, as an older commit can take them.
func (r *Repro) tests() (map[string]string, error) {
	files := map[string]string{}
	for _, name := range r.edited() {
		data, _, err := r.Files.Read(name)
		if err != nil {
			continue // it is not needed
		}
		was, err := os.ReadFile(filepath.Join(r.source.Dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("search the history: %w", err)
		}
		if string(was) != string(data) {
			to, text := aged(name, string(data), string(was))
			files[to] = text
		}
	}
	return files, nil
}

// search goes back in growing steps to a commit on which the test passes, or else on which it says
// nothing, and then halves the way.
func (h *history) search(ctx context.Context) (Since, error) {
	now, err := h.at(ctx, 0)
	switch {
	case err != nil:
		return Since{}, err
	case now == good:
		h.best = 0
		return Since{Note: "the test passes on the last commit: the bug is in changes that are not committed"}, nil
	}
	worst, best := 0, -1 // the oldest known to be bad, the latest known to be good
	for step := 1; best < 0 && worst < len(h.list)-1; step *= 2 {
		i := min(worst+step, len(h.list)-1)
		for i < len(h.list)-1 && h.known[i] != 0 { // one that says nothing stands in the way
			i++
		}
		if h.known[i] != 0 || h.spent() {
			break
		}
		o, err := h.at(ctx, i)
		if err != nil {
			return Since{}, err
		}
		switch o {
		case good:
			best = i
		case bad:
			worst = i
		}
	}
	edge := best // no older commit is of use
	for i := len(h.list) - 1; best < 0 && i > worst; i-- {
		if h.known[i] == skipped {
			edge = i
		}
	}
	for edge-worst > 1 {
		i := h.middle(worst, edge)
		if i < 0 || h.spent() {
			break
		}
		o, err := h.at(ctx, i)
		if err != nil {
			return Since{}, err
		}
		switch {
		case o == good:
			best, edge = i, i
		case o == bad:
			worst = i
		case best < 0:
			edge = i
		}
	}
	h.best = best
	return h.conclude(worst, best), nil
}

func (h *history) spent() bool { return h.steps >= mostSteps || time.Now().After(h.until) }

// middle is the commit nearest to the middle between two that was not tried; negative: there is none.
func (h *history) middle(worst, best int) int {
	mid := (worst + best) / 2
	for d := 0; d < best-worst; d++ {
		for _, i := range []int{mid + d, mid - d} {
			if i > worst && i < best && h.known[i] == 0 {
				return i
			}
		}
	}
	return -1
}

func (h *history) conclude(worst, best int) Since {
	short := func(i int) string { return h.list[i][:min(12, len(h.list[i]))] }
	switch {
	case h.known[worst] != bad:
		return Since{Note: "the test says nothing on the commits that were tried, as where it does not build"}
	case best == worst+1:
		return Since{Commit: h.list[worst], Note: "first bad commit: " + short(worst)}
	case worst == len(h.list)-1 && len(h.list) < mostCommits:
		return Since{Commit: h.list[worst], Note: "the test fails since the first commit, " + short(worst)}
	case best >= 0:
		return Since{Note: fmt.Sprintf("the test passes on %s and fails on %s; what lies between was not tried or says nothing", short(best), short(worst))}
	}
	return Since{Note: fmt.Sprintf("the test fails on %s, and says nothing on older commits that were tried, as where it does not build", short(worst))}
}

// at runs the test on a commit.
func (h *history) at(ctx context.Context, i int) (outcome, error) {
	h.steps++
	h.known[i] = skipped
	for _, args := range [][]string{{"checkout", "--quiet", "--force", "--detach", h.list[i]}, {"clean", "-fdxq"}} {
		if _, err := git(ctx, h.dir, args...); err != nil {
			return 0, err
		}
	}
	for name, text := range h.files {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		if os.MkdirAll(filepath.Dir(file), 0o755) != nil || os.WriteFile(file, []byte(text), 0o600) != nil {
			return skipped, nil // something else has its place
		}
	}
	suite, err := testrun.New(h.dir, h.r.source.Test, h.r.source.Env, time.Duration(h.r.source.Timeout), h.r.source.State)
	if err != nil {
		return skipped, nil //nolint:nilerr // the command that runs the tests did not exist
	}
	now, err := suite.Once(ctx, suite.Only([]string{h.place()}), h.r.pattern(h.t.pkg, h.t.test))
	if err != nil {
		return 0, err
	}
	h.known[i] = verdictOn(now, h.t.test)
	return h.known[i], nil
}

// place is the test's package, whatever the module was called.
func (h *history) place() string {
	if !testrun.IsGoTest(h.r.source.Test) {
		return h.t.pkg
	}
	return place(h.r.dirOf(h.t))
}

func verdictOn(now testrun.Result, test string) outcome {
	for _, f := range now.Report.Failures {
		if top(f.Test) == test {
			if f.Kind == gotest.KindTest && asserts(f, now.Pytest) {
				return bad
			}
			return skipped
		}
	}
	for _, p := range now.Report.Packages {
		if slices.ContainsFunc(p.Tests, func(t gotest.Test) bool { return t.Name == test && t.Status == gotest.StatusPass }) {
			return good
		}
	}
	return skipped
}

// git runs git on the copy's own repository, which has no configuration of the project's.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, said := excerpt.New(1<<20), excerpt.New(4<<10)
	exit, err := process.Run(ctx, process.Command{
		Argv: append([]string{"git", "-c", "core.hooksPath=/dev/null"}, args...), Dir: dir, Stdout: out, Stderr: said,
		Env: process.CleanEnv("GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"), Grace: time.Second,
	})
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	case exit.Code != 0:
		return "", fmt.Errorf("git %s: %s: %s", args[0], exit, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}
