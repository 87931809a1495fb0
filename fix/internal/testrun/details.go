package testrun

import (
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// Details is the run as data, for a tool's result.
type Details struct {
	Summary  string           `json:"summary"`
	Failures []gotest.Failure `json:"failures"`
	More     int              `json:"more,omitempty"` // failures left out
	// Passing lists top-level tests that pass in packages where others fail.
	Passing []string `json:"passing,omitempty"`
	Output  string   `json:"output,omitempty"` // of a command whose tests have no names
	Flaky   []string `json:"flaky,omitempty"`  // failed, and are no part of the goal
}

// MaxResult is how many bytes a result may have. It is JSON, in which a byte of
// text may take six.
const MaxResult = 400 << 10

// Bounds on details, which together stay below what the tool may return.
const (
	mostFailures = 40
	mostOutput   = 32 << 10
	mostPassing  = 100
	mostValue    = 500
)

// Details returns the run as data.
func (n Result) Details() Details {
	if !n.Named() {
		return Details{
			Summary: "the test command ended with " + n.Exit.String(), Failures: []gotest.Failure{}, Output: n.Output, Flaky: n.Flaky,
		}
	}
	r := n.Report
	summary, _, _ := strings.Cut(r.Summary(1), "\n")
	if n.Pytest {
		summary = strings.TrimSuffix(summary, "packages") + "files"
	}
	d := Details{Summary: summary, Failures: []gotest.Failure{}, More: max(0, len(r.Failures)-mostFailures), Flaky: n.Flaky}
	shown := r.Failures[:min(len(r.Failures), mostFailures)]
	failing := map[string]bool{}
	for _, f := range shown {
		failing[f.Package] = true
		f.Output, _ = excerpt.Cut(f.Output, mostOutput/len(shown))
		f.Got, f.Want = excerpt.Clip(f.Got, mostValue), excerpt.Clip(f.Want, mostValue)
		d.Failures = append(d.Failures, f)
	}
	for _, p := range r.Packages {
		for _, t := range p.Tests {
			if failing[p.Path] && t.Status == gotest.StatusPass && (n.Pytest || !strings.Contains(t.Name, "/")) && len(d.Passing) < mostPassing {
				d.Passing = append(d.Passing, p.ID(t.Name))
			}
		}
	}
	return d
}

// Args are the arguments of a tool that runs tests.
type Args struct {
	Run string `json:"run,omitempty" jsonschema:"which tests: for go test a regular expression as -run takes it, such as ^TestSum$; for pytest an identity (file::test) or an expression as -k takes it; all tests when left out"`
}
