package testfix

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

type memory = project.Memory[known]

// cached is a run of the tests and the state of the files it was about.
type cached struct {
	state   string
	ran     testrun.Result
	verdict verdict
}

// current runs all tests, unless the files are as they were at the last run. The caller holds Running.
func (f *Fix) current(ctx context.Context) (cached, error) {
	state := f.Files.State(f.Edited())
	if f.latest.state == state {
		return f.latest, nil
	}
	var now testrun.Result
	ran := false
	first, err := f.First(ctx, func(b *project.Before, first testrun.Result) (err error) {
		now, ran = first, true
		if b.Away, err = f.away(ctx, first); err == nil {
			b.Flaky = slices.Concat(b.Flaky, b.Away)
			slices.Sort(b.Flaky)
			now = now.Without(b.Away)
			b.Report = now.Report
		}
		return err
	})
	if err != nil {
		return cached{}, err
	}
	if !ran {
		if now, _, err = f.Again(ctx, first, f.Suite.Argv); err != nil {
			return cached{}, err
		}
	}
	v := judge(first.Report, now, f.source.AllowTestEdits)
	v.Flaky = f.Flaky()
	f.latest = cached{state, now, v}
	return f.latest, f.remember(v, first.Report)
}

// away runs what fails in the copy once in the project, and returns what passes there.
func (f *Fix) away(ctx context.Context, now testrun.Result) (ids []string, err error) {
	packages, _ := testrun.Chancy(now)
	if !now.Named() || len(packages) == 0 || now.Took > testrun.LongestAgain || now.Filled || ctx.Err() != nil {
		return nil, nil
	}
	s := *f.Suite
	s.Dir, s.Seen = f.source.Dir, nil
	if s.Pytest > 0 {
		s.Env = append(slices.Clone(s.Env), testrun.PythonPath(s.Dir)) // the last of a name counts
	}
	there, err := s.Once(ctx, s.Only(packages), "")
	if err != nil {
		return nil, err
	}
	for _, x := range now.Report.Failures {
		if there.Report.Passes(x.ID) {
			ids = append(ids, x.ID)
		}
	}
	return ids, nil
}

// observe runs the tests if anything has changed.
func (f *Fix) observe(ctx context.Context) (pawl.Observation, error) {
	f.Running.Lock()
	defer f.Running.Unlock()
	c, err := f.current(ctx)
	if err != nil {
		return pawl.Observation{}, err
	}
	return f.Observation(c.state, c.verdict.text(c.ran), "", c.verdict)
}
