package review

import (
	"cmp"
	"slices"

	"github.com/pawl-run/pawl"
)

// Severities are those of findings, the gravest first.
const (
	Error   = "error"   // it goes wrong
	Warning = "warning" // it goes wrong in some case
	Note    = "note"    // worth a look
)

// A Finding is a fault in a line of the difference.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Evidence string `json:"evidence"`
	Rule     string `json:"rule"` // the rule that found it; empty: the model did
}

// A Refuted is a finding of the model that the judge refuted, with the reason.
type Refuted struct {
	Finding

	Reason string `json:"reason"`
}

// A Skipped is a file that was not reviewed, and why.
type Skipped struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// A Report is what a review found.
type Report struct {
	Change   string       `json:"change"`
	Prefix   string       `json:"prefix"` // of the project within its repository
	Model    string       `json:"model"`  // empty: none was asked
	Findings []Finding    `json:"findings"`
	Refuted  []Refuted    `json:"refuted"`
	Dropped  int          `json:"dropped"` // findings of the model outside the difference
	Cached   int          `json:"cached"`  // files whose result was kept from an earlier review
	Reviewed []string     `json:"reviewed"`
	Skipped  []Skipped    `json:"skipped"`
	Notes    []string     `json:"notes"`  // what could not be checked
	Result   *pawl.Result `json:"result"` // of the run; nil: there was none
}

// New returns the report of a change before it was reviewed.
func New(c *Change) *Report {
	r := &Report{
		Change: c.What, Prefix: c.Prefix, Findings: []Finding{}, Refuted: []Refuted{}, Reviewed: []string{}, Skipped: []Skipped{}, Notes: []string{},
	}
	for _, f := range c.Files {
		if f.Skip != "" {
			r.Skipped = append(r.Skipped, Skipped{f.Path, f.Skip})
		}
	}
	return r
}

// sort puts the findings in the order of the lines, without repetitions.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Title, b.Title))
	})
	r.Findings = slices.CompactFunc(r.Findings, func(a, b Finding) bool {
		return a.File == b.File && a.Line == b.Line && a.Title == b.Title
	})
}

// add adds what a review of a file by a model came to.
func (r *Report) add(path string, f Judged) {
	for _, one := range f.Findings {
		one.File, one.Rule = path, ""
		r.Findings = append(r.Findings, one)
	}
	for _, one := range f.Refuted {
		one.File, one.Rule = path, ""
		r.Refuted = append(r.Refuted, one)
	}
	r.Dropped += len(f.Dropped)
	r.Reviewed = append(r.Reviewed, path)
}

// A Judged is what a review of one file by a model came to.
type Judged struct {
	Findings []Finding `json:"findings"` // upheld
	Refuted  []Refuted `json:"refuted"`
	Dropped  []Finding `json:"dropped"` // outside the difference
}
