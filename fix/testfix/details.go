package testfix

import (
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// details is the run as data, for a tool's result.
type details struct {
	Summary  string    `json:"summary"`
	Failures []failure `json:"failures"`
	More     int       `json:"more,omitempty"` // failures left out
	// Passing lists top-level tests that pass in packages where others fail.
	Passing []string `json:"passing,omitempty"`
	Output  string   `json:"output,omitempty"` // of a command whose tests have no names
	At      []string `json:"at,omitempty"`     // file:line that Output names
	Flaky   []string `json:"flaky,omitempty"`  // failed, and are no part of the goal
}

type failure struct {
	ID      string   `json:"id"`
	Package string   `json:"package,omitempty"`
	Test    string   `json:"test,omitempty"`
	Kind    string   `json:"kind"`
	Output  string   `json:"output,omitempty"`
	At      []string `json:"at,omitempty"` // file:line
	Got     string   `json:"got,omitempty"`
	Want    string   `json:"want,omitempty"`
}

// Bounds on details, which together stay below what the tool may return.
const (
	mostFailures = 40
	mostOutput   = 32 << 10
	mostPassing  = 100
	mostValue    = 500
)

func (n ran) details() details {
	if !n.named() {
		return details{
			Summary: "the test command ended with " + n.exit.String(), Failures: []failure{}, Output: n.output, At: n.places, Flaky: n.flaky,
		}
	}
	r := n.report
	summary, _, _ := strings.Cut(r.Summary(1), "\n")
	if n.pytest {
		summary = strings.TrimSuffix(summary, "packages") + "files"
	}
	d := details{Summary: summary, Failures: []failure{}, More: max(0, len(r.Failures)-mostFailures), Flaky: n.flaky}
	shown := r.Failures[:min(len(r.Failures), mostFailures)]
	failing := map[string]bool{}
	for _, f := range shown {
		failing[f.Package] = true
		out, _ := excerpt.Cut(f.Output, mostOutput/len(shown))
		x := failure{
			ID: f.ID, Package: f.Package, Test: f.Test, Kind: f.Kind.String(), Output: out,
			Got: clip(f.Got), Want: clip(f.Want),
		}
		for _, l := range f.Locations {
			x.At = append(x.At, l.String())
		}
		d.Failures = append(d.Failures, x)
	}
	for _, p := range r.Packages {
		for _, t := range p.Tests {
			if failing[p.Path] && t.Status == gotest.StatusPass && (n.pytest || !strings.Contains(t.Name, "/")) && len(d.Passing) < mostPassing {
				d.Passing = append(d.Passing, p.ID(t.Name))
			}
		}
	}
	return d
}

func clip(s string) string {
	if len(s) <= mostValue {
		return s
	}
	return strings.ToValidUTF8(s[:mostValue], "")
}
