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
	var packages []string
	slow := map[string]bool{}
	for _, f := range first.report.Failures {
		switch f.Kind {
		case gotest.KindTest, gotest.KindPanic:
			if f.Package != "" && !slices.Contains(packages, f.Package) {
				packages = append(packages, f.Package)
			}
		case gotest.KindTimeout:
			slow[f.Package] = true
		}
	}
	packages = slices.DeleteFunc(packages, func(p string) bool { return slow[p] })
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
