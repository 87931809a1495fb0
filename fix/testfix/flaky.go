package testfix

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// excuse runs the packages again in which a test fails that passed before an edit, and returns
// those that pass then: they fail by chance, so the edit is not blamed. From then on they are no
// part of the goal.
func (f *Fix) excuse(ctx context.Context, before, now gotest.Report, again func(packages []string) (gotest.Report, error)) ([]string, error) {
	broken := gotest.Compare(before, now).Broken
	var packages []string
	for _, x := range now.Failures {
		if slices.Contains(broken, x.ID) && x.Kind == gotest.KindTest && !slices.Contains(packages, x.Package) {
			packages = append(packages, x.Package)
		}
	}
	if len(packages) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	second, err := again(packages)
	if err != nil {
		return nil, err
	}
	broken = slices.DeleteFunc(broken, func(id string) bool { return !second.Passes(id) })
	if len(broken) == 0 {
		return nil, nil
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.flaky = append(slices.Clone(f.flaky), broken...)
	slices.Sort(f.flaky)
	return broken, f.saveFirst()
}

// elsewhere runs what fails in the copy once in the project, and returns what passes there.
func (f *Fix) elsewhere(ctx context.Context, now testrun.Result) ([]string, error) {
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
	var away []string
	for _, x := range now.Report.Failures {
		if there.Report.Passes(x.ID) {
			away = append(away, x.ID)
		}
	}
	return away, nil
}
