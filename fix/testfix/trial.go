package testfix

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// outcomes of trying an edit; zero is not tried.
type outcome int

const (
	stillFails outcome = 1 + iota
	fixed
	unbuilt
	endless
	refused
	same // as an edit before it
)

// trial is one use of try_edits. The go command alone sees the edits over the working copy
// (see -overlay in go help build): nothing is written there, and build results are shared with
// every other run.
type trial struct {
	fix     *Fix
	base    cached
	command testrun.GoCommand
	dir     string // for overlays
	affects affects
	screen  *screen // may be nil
	edits   []*candidate
	own     int // how many of them are not the mechanic's
	runsTo  int // the most runs
	limit   time.Duration

	// Run all tests with no other edit in progress, to distinguish broken tests from
	// tests that a concurrent edit has disturbed.
	alone sync.RWMutex

	mu      sync.Mutex // guards what follows, and outcomes
	next    int
	full    int // the first edit that fixes all, or len(edits)
	wanted  int // how many such edits end the trial, in which the common build judges; zero is one, which all tests judge
	fulls   int // of them
	runs    int
	slowest time.Duration
	err     error
}

// candidate is an edit and its result.
type candidate struct {
	files   map[string]string // as they would be
	like    int               // for same: the edit that it equals
	outcome outcome
	why     string
	fixed   []string
	broken  []string
	open    int
	judged  bool                    // by all tests
	stop    context.CancelCauseFunc // while it is tried
}

func (f *Fix) trial(ctx context.Context, base cached, a tryArgs) (*trial, error) {
	command, err := testrun.ParseGoCommand(f.Suite.Argv[2:])
	if err != nil {
		return nil, err
	}
	t := &trial{fix: f, base: base, command: command, runsTo: a.Runs, full: len(a.Edits), limit: f.patience()}
	seen := map[[sha256.Size]byte]int{}
	for i, e := range a.Edits {
		c := &candidate{}
		if c.files, err = would(f.Files, e); err != nil {
			c.outcome, c.why = refused, excerpt.Clip(err.Error(), mostWhy)
		} else if first, again := seen[digest(c.files)]; again {
			c.outcome, c.like = same, first
		} else {
			seen[digest(c.files)] = i
			for _, name := range slices.Sorted(maps.Keys(c.files)) {
				if err := project.Parses(name, c.files[name]); err != nil {
					c.outcome, c.why = unbuilt, excerpt.Clip(err.Error(), mostWhy)
				}
			}
		}
		t.edits = append(t.edits, c)
	}
	if t.affects, err = f.affected(ctx, command, failingPackages(base.report())); err != nil {
		return nil, fmt.Errorf("list the packages that the edits affect: %w", err)
	}
	if t.dir, err = os.MkdirTemp(f.Tree.StateDir(), "try-"); err != nil {
		return nil, fmt.Errorf("make room for the edits: %w", err)
	}
	return t, nil
}

func (c cached) report() gotest.Report { return c.ran.Report }

func (t *trial) close() { _ = os.RemoveAll(t.dir) } // in the state directory, which is removed as a whole

func digest(files map[string]string) [sha256.Size]byte {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %d ", name, len(files[name]))
		_, _ = sum.Write([]byte(files[name]))
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// all tries the edits, several at once.
func (t *trial) all(ctx context.Context) {
	ctx, end := context.WithTimeoutCause(ctx, tryTime, errEnough)
	defer end()
	t.screen = t.screened(ctx)
	slots := slots()
	var group sync.WaitGroup
	for range min(slots, len(t.edits)) {
		group.Go(func() {
			for {
				c, inner := t.take(ctx)
				if c == nil {
					return
				}
				err := t.one(inner, c, slots)
				t.mu.Lock()
				if err != nil && inner.Err() == nil && t.err == nil {
					t.err = err
				}
				t.mu.Unlock()
				c.stop(nil)
			}
		})
	}
	group.Wait()
	for _, c := range t.edits {
		if c.outcome == same {
			like := t.edits[c.like]
			c.outcome, c.why, c.fixed, c.broken, c.open = like.outcome, like.why, like.fixed, like.broken, like.open
		}
	}
}

// slots is how many edits are tried at once: one for each core, within reason.
func slots() int { return max(1, min(runtime.GOMAXPROCS(0), 8)) }

// take returns the next edit to try, or nil.
func (t *trial) take(ctx context.Context) (*candidate, context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.next < t.full; t.next++ {
		if ctx.Err() != nil || t.err != nil || t.runs >= t.runsTo {
			return nil, nil
		}
		if c := t.edits[t.next]; c.outcome == 0 {
			t.next++
			inner, stop := context.WithCancelCause(ctx)
			c.stop = stop
			return c, inner
		}
	}
	return nil, nil
}

// one finds out the effect of an edit on the tests: first on those that fail, then, if any is
// fixed, on all.
func (t *trial) one(ctx context.Context, c *candidate, slots int) error {
	packages := t.affects.of(c)
	if len(packages) == 0 {
		c.settle(t, stillFails, "no failing test is made of this code")
		return nil
	}
	memory := int64(testrun.Share*float64(testrun.Available())) / int64(slots)
	screened := t.screen != nil && t.screen.has[c] > 0
	var ran testrun.GoTested
	var err error
	t.alone.RLock()
	if screened {
		ran, err = t.screen.run(ctx, t, c, packages, t.pattern(packages), t.limit, memory)
	} else if overlay, bad := testrun.Overlay(t.place(c), c.files); bad != nil {
		err = bad
	} else {
		ran, err = t.fix.Suite.GoTest(ctx, slices.Concat([]string{overlay, "-vet=off", "-p=1", "-count=1"}, t.command.Build, t.pattern(packages), packages, t.command.Args), t.limit, memory)
	}
	t.alone.RUnlock()
	if err != nil {
		return err
	}
	t.note(ran)
	if why, ok := unbuiltBy(t.base.report(), ran.Report); ok {
		c.settle(t, unbuilt, c.plain(why, t.place(c)))
		return nil
	}
	some := gotest.Compare(t.base.report(), ran.Report).Fixed
	if len(some) == 0 {
		how := stillFails
		if ran.Stopped != nil || slices.ContainsFunc(ran.Report.Failures, func(x gotest.Failure) bool { return x.Kind == gotest.KindTimeout }) {
			how = endless
		}
		c.settle(t, how, "")
		return nil
	}

	if !screened || t.wanted == 0 {
		return t.whole(ctx, c)
	}
	t.alone.RLock()
	open, err := t.screen.leaves(ctx, t, c, packages, ran, memory)
	t.alone.RUnlock()
	if err != nil {
		return err
	}
	if open {
		c.open = 1 // or more
	}
	c.settle(t, fixed, "")
	return nil
}

// whole judges an edit by a run of all tests.
func (t *trial) whole(ctx context.Context, c *candidate) error {
	t.alone.Lock()
	defer t.alone.Unlock()
	if c.judged || ctx.Err() != nil { // an earlier edit fixes all
		return nil
	}
	overlay, err := testrun.Overlay(t.place(c), c.files)
	if err != nil {
		return err
	}
	c.judged = true
	whole, err := t.fix.Suite.GoTest(ctx, slices.Concat([]string{overlay}, t.command.Vet, t.command.Build, t.command.Packages, t.command.Args), t.fix.Suite.Longest(), 0)
	if err != nil {
		return err
	}
	t.note(whole)
	if why, ok := unbuiltBy(t.base.report(), whole.Report); ok {
		c.settle(t, unbuilt, c.plain(why, t.place(c)))
		return nil
	}
	now := t.now(whole)
	if d := gotest.Compare(t.base.report(), now.Report); len(d.Still) == 0 && len(d.Broken) > 0 && whole.Stopped == nil {
		excused, err := t.fix.excuse(ctx, t.base.report(), now.Report, func(packages []string) (gotest.Report, error) {
			second, err := t.fix.Suite.GoTest(ctx, slices.Concat([]string{overlay, "-count=1"}, t.command.Vet, t.command.Build, packages, t.command.Args), t.fix.Suite.Longest(), 0)
			return second.Report, err
		})
		if err != nil {
			return err
		}
		now = now.Without(excused)
	}
	t.judge(c, now)
	if c.outcome == fixed && len(c.broken) == 0 && whole.Stopped == nil {
		return t.fix.prove(ctx, c.files, now)
	}
	return nil
}

// now is a run of all tests with an edit, without those that fail by chance.
func (t *trial) now(whole testrun.GoTested) testrun.Result {
	now := testrun.Result{Report: whole.Report, Golang: true}
	if whole.Stopped != nil {
		now.Exit.Code = -1
	}
	return now.Without(t.fix.flakes())
}

// judge takes in what all tests say.
func (t *trial) judge(c *candidate, now testrun.Result) {
	d := gotest.Compare(t.base.report(), now.Report)
	t.fix.Mu.Lock()
	first := *t.fix.first // there is one, since the tests ran before
	t.fix.Mu.Unlock()
	v := judge(first, now, t.fix.source.AllowTestEdits)
	c.fixed, c.broken, c.open = d.Fixed, slices.Concat(d.Broken, d.Hidden), len(v.Open)
	slices.Sort(c.broken)
	if len(c.fixed) == 0 {
		c.settle(t, stillFails, "")
		return
	}
	c.settle(t, fixed, "")
}

func (c *candidate) settle(t *trial, o outcome, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.outcome, c.why = o, excerpt.Clip(why, mostWhy)
	if o != fixed || c.open > 0 {
		return
	}
	if t.fulls++; t.fulls < t.wanted {
		return
	}
	i := slices.Index(t.edits, c)
	t.full = min(t.full, i)
	for _, later := range t.edits[i+1:] {
		if later.stop != nil {
			later.stop(errEnough)
		}
	}
}

func (t *trial) note(r testrun.GoTested) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Ran {
		t.runs++
	}
	late := slices.ContainsFunc(r.Report.Failures, func(x gotest.Failure) bool { return x.Kind == gotest.KindTimeout })
	if r.Stopped == nil && !late {
		t.slowest = max(t.slowest, r.Slowest)
	}
}

// pattern picks the failing tests of packages by name; all tests of them, if
// one fails as a whole.
func (t *trial) pattern(packages []string) []string {
	var names []string
	for _, x := range t.base.report().Failures {
		if !slices.Contains(packages, x.Package) {
			continue
		}
		if x.Test == "" {
			return nil
		}
		name, _, _ := strings.Cut(x.Test, "/")
		if name = regexp.QuoteMeta(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return []string{"-run=^(" + strings.Join(names, "|") + ")$"}
}

// unbuiltBy reports whether a run has a new build failure, and returns the compiler's message.
func unbuiltBy(before, now gotest.Report) (string, bool) {
	for _, x := range now.Failures {
		if x.Kind != gotest.KindBuild && x.Kind != gotest.KindSetup {
			continue
		}
		if slices.ContainsFunc(before.Failures, func(b gotest.Failure) bool { return b.ID == x.ID }) {
			continue
		}
		for line := range strings.Lines(x.Output) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				return line, true
			}
		}
		return "it does not build", true
	}
	return "", false
}

// hasty is the time-out of a trial's tests as long as their usual time is unknown: an edit may
// make them run forever.
const (
	hasty    = 5 * time.Second
	hastiest = 2 * time.Second
)

// patience is how long the tests of a package may take in a trial: a few times the slowest
// that has ended.
func (f *Fix) patience() time.Duration {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.pace == 0 {
		return min(hasty, f.Suite.Longest())
	}
	return min(max(hastiest, testrun.Patience*f.pace).Round(time.Second), f.Suite.Longest())
}

// learn takes in how long the slowest of some tests took.
func (f *Fix) learn(slowest time.Duration) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.pace = max(f.pace, slowest)
}
