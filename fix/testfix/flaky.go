package testfix

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// longestAgain is the longest first run of the tests that is repeated.
const longestAgain = 2 * time.Minute

// again runs what failed once more without a change, and returns the identities whose
// verdicts differ: these are chance, and cannot measure an edit. It runs whole packages, since
// a test may depend on earlier ones. It skips a test that did not end, and a data race is a
// fault of the code however rarely it shows.
func (s *suite) again(ctx context.Context, first ran) ([]string, error) {
	if first.took > longestAgain || first.filled || ctx.Err() != nil {
		return nil, nil
	}
	if !first.named() {
		if v := judge(first, first, false); len(v.Open) == 0 || first.exit.Killed {
			return nil, nil
		}
		second, err := s.once(ctx, s.argv, "")
		if err != nil || second.exit.Code != 0 || second.exit.Killed {
			return nil, err
		}
		return []string{noSuccess}, nil
	}
	packages, slow := chancy(first)
	if len(packages) == 0 {
		return nil, nil
	}
	second, err := s.once(ctx, s.only(packages), "")
	if err != nil {
		return nil, err
	}
	chance := map[string]bool{}
	for _, r := range []gotest.Report{first.report, second.report} {
		for _, f := range r.Failures {
			chance[f.ID] = (f.Kind == gotest.KindTest || f.Kind == gotest.KindPanic) && !slow[f.Package]
		}
	}
	d := gotest.Compare(first.report, second.report)
	wavering := slices.DeleteFunc(slices.Concat(d.Fixed, d.Broken), func(id string) bool { return !chance[id] })
	slices.Sort(wavering)
	return wavering, nil
}

// chancy returns the packages with a failure that may be one of chance, and those whose tests
// did not end in time.
func chancy(now ran) (packages []string, slow map[string]bool) {
	slow = map[string]bool{}
	for _, f := range now.report.Failures {
		switch f.Kind {
		case gotest.KindTest, gotest.KindPanic:
			if f.Package != "" && !slices.Contains(packages, f.Package) {
				packages = append(packages, f.Package)
			}
		case gotest.KindTimeout:
			slow[f.Package] = true
		}
	}
	return slices.DeleteFunc(packages, func(p string) bool { return slow[p] }), slow
}

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
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flaky = append(slices.Clone(f.flaky), broken...)
	slices.Sort(f.flaky)
	return broken, f.saveFirst()
}

// elsewhere runs what fails in the copy once in the project, and returns what passes there.
func (f *Fix) elsewhere(ctx context.Context, now ran) ([]string, error) {
	packages, _ := chancy(now)
	if !now.named() || len(packages) == 0 || now.took > longestAgain || now.filled || ctx.Err() != nil {
		return nil, nil
	}
	s := *f.suite
	s.dir, s.seen = f.source.Dir, nil
	if s.pytest > 0 {
		s.env = append(slices.Clone(s.env), pythonPath(s.dir)) // the last of a name counts
	}
	there, err := s.once(ctx, s.only(packages), "")
	if err != nil {
		return nil, err
	}
	var away []string
	for _, x := range now.report.Failures {
		if there.report.Passes(x.ID) {
			away = append(away, x.ID)
		}
	}
	return away, nil
}

// only is the command of go test for some packages, if it names all of them.
func (s *suite) only(packages []string) []string {
	argv := slices.Clone(s.argv)
	if at := slices.Index(argv, "./..."); s.golang && at == len(argv)-1 && !slices.ContainsFunc(packages, odd) {
		return append(argv[:at], packages...)
	}
	return argv
}

// odd reports whether a package has no import path.
func odd(p string) bool { return strings.HasPrefix(p, ".") || strings.ContainsAny(p, " [") }

// without leaves flaky tests out of a run.
func (n ran) without(flaky []string) ran {
	if !n.named() && n.exit.Code != 0 && !n.exit.Killed && slices.Contains(flaky, noSuccess) {
		n.flaky = []string{noSuccess}
	}
	for _, f := range n.report.Failures {
		if slices.Contains(flaky, f.ID) {
			n.flaky = append(n.flaky, f.ID)
		}
	}
	if len(n.flaky) > 0 {
		n.report = n.report.Without(n.flaky)
	}
	return n
}
