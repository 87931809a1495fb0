package testrun

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// Identities of failures without a name.
const (
	NoTests   = "[no tests]"   // the command ran none
	NoSuccess = "[exit code]"  // a command whose tests have no names failed
	NoReason  = "[go command]" // go test or pytest failed without saying where
)

// LongestAgain is the longest first run of the tests that is repeated.
const LongestAgain = 2 * time.Minute

// Again runs what failed once more without a change, and returns the identities whose
// verdicts differ: these are chance, and cannot measure an edit. It runs whole packages, since
// a test may depend on earlier ones. It skips a test that did not end, and a data race is a
// fault of the code however rarely it shows.
func (s *Suite) Again(ctx context.Context, first Result) ([]string, error) {
	if first.Took > LongestAgain || first.Filled || ctx.Err() != nil {
		return nil, nil
	}
	if !first.Named() {
		if first.Exit.Code == 0 || first.Exit.Killed {
			return nil, nil
		}
		second, err := s.Once(ctx, s.Argv, "")
		if err != nil || second.Exit.Code != 0 || second.Exit.Killed {
			return nil, err
		}
		return []string{NoSuccess}, nil
	}
	packages, slow := Chancy(first)
	if len(packages) == 0 {
		return nil, nil
	}
	second, err := s.Once(ctx, s.Only(packages), "")
	if err != nil {
		return nil, err
	}
	chance := map[string]bool{}
	for _, r := range []gotest.Report{first.Report, second.Report} {
		for _, f := range r.Failures {
			chance[f.ID] = (f.Kind == gotest.KindTest || f.Kind == gotest.KindPanic) && !slow[f.Package]
		}
	}
	d := gotest.Compare(first.Report, second.Report)
	wavering := slices.DeleteFunc(slices.Concat(d.Fixed, d.Broken), func(id string) bool { return !chance[id] })
	slices.Sort(wavering)
	return wavering, nil
}

// NoCommand reports whether a shell or the go command says that there is no such command.
func (n Result) NoCommand(argv []string) bool {
	if n.Named() || n.Exit.Killed {
		return false
	}
	return n.Exit.Code == 127 || len(argv) > 1 && isGo(argv[0]) && strings.HasPrefix(n.Output, "go "+argv[1]+": unknown command")
}

// Chancy returns the packages with a failure that may be one of chance, and those whose tests
// did not end in time.
func Chancy(now Result) (packages []string, slow map[string]bool) {
	slow = map[string]bool{}
	for _, f := range now.Report.Failures {
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

// Only is the command of go test for some packages, if it names all of them.
func (s *Suite) Only(packages []string) []string {
	argv := slices.Clone(s.Argv)
	if at := slices.Index(argv, "./..."); s.golang && at == len(argv)-1 && !slices.ContainsFunc(packages, odd) {
		return append(argv[:at], packages...)
	}
	return argv
}

// odd reports whether a package has no import path.
func odd(p string) bool { return strings.HasPrefix(p, ".") || strings.ContainsAny(p, " [") }

// Without leaves flaky tests out of a run.
func (n Result) Without(flaky []string) Result {
	if !n.Named() && n.Exit.Code != 0 && !n.Exit.Killed && slices.Contains(flaky, NoSuccess) {
		n.Flaky = []string{NoSuccess}
	}
	for _, f := range n.Report.Failures {
		if slices.Contains(flaky, f.ID) {
			n.Flaky = append(n.Flaky, f.ID)
		}
	}
	if len(n.Flaky) > 0 {
		n.Report = n.Report.Without(n.Flaky)
	}
	return n
}

// Longest is how long the tests of a package may take.
func (s *Suite) Longest() time.Duration {
	if s.Cap > 0 {
		return s.Cap
	}
	return s.timeout
}

// Summary is what a model reads of the run, in at most about limit bytes.
func (n Result) Summary(limit int) string {
	if !n.Named() {
		return "The test command ended with " + n.Exit.String() + ". Its output:\n" + n.Output
	}
	text := n.Report.Summary(limit)
	if n.Pytest { // which has files and no packages
		head, rest, _ := strings.Cut(text, "\n")
		text = strings.TrimSuffix(head, "packages") + "files\n" + rest
	}
	return text
}
