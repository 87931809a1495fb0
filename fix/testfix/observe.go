package testfix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// cached is a run of the tests and the state of the files it was about.
type cached struct {
	state   string
	ran     testrun.Result
	verdict verdict
	texts   map[string]string // of the files that were edited
}

// mostCached is how many runs are remembered: enough for a change that is
// taken back at once.
const mostCached = 8

// test runs all tests, unless the files are as they were at a run before.
func (f *Fix) test(ctx context.Context) (testrun.Result, error) {
	c, err := f.current(ctx)
	return c.ran, err
}

func (f *Fix) current(ctx context.Context) (cached, error) {
	f.Running.Lock()
	defer f.Running.Unlock()
	state, err := f.state(ctx)
	if err != nil {
		return cached{}, err
	}
	f.Mu.Lock()
	i := slices.IndexFunc(f.cache, func(c cached) bool { return c.state == state })
	if i >= 0 {
		defer f.Mu.Unlock()
		return f.cache[i], nil
	}
	f.Mu.Unlock()

	now, known := f.provedAt(state)
	if !known {
		if now, err = f.whole(ctx); err != nil {
			return cached{}, err
		}
	}
	// Tests may write files, which count as observed.
	if state, err = f.state(ctx); err != nil {
		return cached{}, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	v, err := f.remember(ctx, now)
	if err != nil {
		return cached{}, err
	}
	c := cached{state, now, v, map[string]string{}}
	for name := range f.edited {
		if data, _, err := f.Files.Read(name); err == nil {
			c.texts[name] = string(data)
		}
	}
	f.cache = append(f.cache, c)
	f.cache = f.cache[max(0, len(f.cache)-mostCached):]
	return c, nil
}

// whole runs all tests.
func (f *Fix) whole(ctx context.Context) (testrun.Result, error) {
	now, err := f.Suite.Run(ctx, "")
	if err != nil {
		return now, err
	}
	if err := f.sift(ctx, now); err != nil {
		return now, err
	}
	now = now.Without(f.flakes())
	if before := f.before(); before != nil && now.Named() && now.Took <= testrun.LongestAgain {
		excused, err := f.excuse(ctx, *before, now.Report, func(packages []string) (gotest.Report, error) {
			second, err := f.Suite.Once(ctx, f.Suite.Only(packages), "")
			return second.Report, err
		})
		if err != nil {
			return now, err
		}
		now = now.Without(excused)
	}
	return now, nil
}

// sift finds the flaky tests when the tests have run for the first time.
func (f *Fix) sift(ctx context.Context, now testrun.Result) error {
	f.Mu.Lock()
	known := f.first != nil
	f.Mu.Unlock()
	if known {
		return nil
	}
	flaky, err := f.Suite.Again(ctx, now)
	if err != nil {
		return err
	}
	away, err := f.elsewhere(ctx, now.Without(flaky))
	if err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.flaky, f.away = append(flaky, away...), away
	slices.Sort(f.flaky)
	return nil
}

// before returns what the tests said last; nil: they have not run in this process.
func (f *Fix) before() *gotest.Report {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.course.last
}

func (f *Fix) flakes() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.flaky
}

// state digests the files. Those that were edited count by content, since two
// edits of equal length may come within the clock's grain; the others by size,
// permissions and time.
func (f *Fix) state(ctx context.Context) (string, error) { return f.stateWith(ctx, nil) }

// stateWith is the state that the files will have when some are edited to other texts.
func (f *Fix) stateWith(ctx context.Context, edits map[string]string) (string, error) {
	f.Mu.Lock()
	edited := make(map[string]bool, len(f.edited))
	for name := range f.edited {
		edited[name] = true
	}
	f.Mu.Unlock()
	for name := range edits {
		edited[name] = true
	}
	sum := sha256.New()
	err := fs.WalkDir(f.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || strings.HasPrefix(d.Name(), ".pawl-") {
			return nil // what cannot be read now shows when it can
		}
		if name == ".git" && d.IsDir() {
			return fs.SkipDir // git writes there when it only looks
		}
		fmt.Fprintf(sum, "%q", name)
		if edited[name] {
			if data, perm, err := f.Files.Read(name); err == nil {
				if text, ok := edits[name]; ok {
					data = []byte(text)
				}
				fmt.Fprintf(sum, " %v %x\n", perm, sha256.Sum256(data))
				return nil
			}
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			fmt.Fprintf(sum, " %v %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		_, _ = sum.Write([]byte("\n"))
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("look at the working copy: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unchanged begins the text of an observation that has nothing new to say.
const unchanged = "Unchanged since the last run of the tests: "

// observe runs the tests if anything has changed.
func (f *Fix) observe(ctx context.Context) (pawl.Observation, error) {
	c, err := f.current(ctx)
	if err != nil {
		return pawl.Observation{}, err
	}
	data, err := json.Marshal(c.verdict)
	if err != nil {
		return pawl.Observation{}, fmt.Errorf("write the test results: %w", err)
	}
	text := c.verdict.text(c.ran)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.observed == c.state {
		first, _, _ := strings.Cut(text, "\n")
		text = unchanged + first
	} else {
		text += f.course.next(c.ran, c.verdict, f.first.Report)
		if err := f.save(courseName, f.course); err != nil {
			return pawl.Observation{}, err
		}
	}
	f.observed = c.state
	return pawl.Observation{Text: text, Data: data}, nil
}
