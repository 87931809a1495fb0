package review

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

// Severities are those of findings, the gravest first.
const (
	Error   = "error"   // it goes wrong
	Warning = "warning" // it goes wrong in some case
	Note    = "note"    // worth a look
)

// A Finding is a fault in a line of the difference.
type Finding struct {
	File     string `json:"file" jsonschema:"the path of the file, as the change names it"`
	Line     int    `json:"line" jsonschema:"the line with the fault, by its number in the new file: with +, or beside a line with -"`
	Severity string `json:"severity" jsonschema:"error if it goes wrong in ordinary use, warning if it goes wrong in some case, note if it is worth a second look"`
	Title    string `json:"title" jsonschema:"the fault, in one short sentence"`
	Evidence string `json:"evidence" jsonschema:"the code, the input or order of events, and what goes wrong then"`
}

// A Reviewed is a file of a review, with the lines of its difference.
type Reviewed struct {
	Path  string  `json:"path"`
	Lines []Range `json:"lines"`
}

// A Skipped is a file that was not reviewed, and why.
type Skipped struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// A Source says what a run reviews: enough to make its agent again, and to report what it found in another
// process. Agent.Source of this package's agents holds it as JSON.
type Source struct {
	Dir     string     `json:"dir"`
	Prefix  string     `json:"prefix"` // of the project within its repository
	Model   string     `json:"model"`
	Files   []Reviewed `json:"files"`
	Skipped []Skipped  `json:"skipped"`
}

// Check says what the source lacks.
func (s Source) Check() error {
	if s.Model == "" || len(s.Files) == 0 {
		return errors.New("it needs a model and files")
	}
	return nil
}

// ParseSource reads what Source.String wrote. The second result is false for the source of
// another kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, "review")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText("review", s) }

// objection says why a finding is not one in the change; it is empty where it is one.
func (s Source) objection(f Finding) string {
	i := slices.IndexFunc(s.Files, func(r Reviewed) bool { return r.Path == f.File })
	switch {
	case i < 0:
		return f.File + " is no file of the change"
	case !slices.ContainsFunc(s.Files[i].Lines, func(r Range) bool { return r[0] <= f.Line && f.Line <= r[1] }):
		return fmt.Sprintf("%s:%d is no line of the change; those are %v", f.File, f.Line, s.Files[i].Lines)
	case f.Severity != Error && f.Severity != Warning && f.Severity != Note:
		return fmt.Sprintf("severity %q is none of error, warning, note", f.Severity)
	case strings.TrimSpace(f.Title) == "":
		return fmt.Sprintf("the finding in %s:%d has no title", f.File, f.Line)
	}
	return ""
}

// A Report is what a review found.
type Report struct {
	Prefix   string       `json:"prefix"`
	Model    string       `json:"model"`
	Findings []Finding    `json:"findings"`
	Reviewed []string     `json:"reviewed"`
	Skipped  []Skipped    `json:"skipped"`
	Result   *pawl.Result `json:"result"` // of the run; null: there was none
}

// Report returns what a run found, in the order of the lines. A nil run has found nothing.
func (s Source) Report(run *pawl.State) *Report {
	r := &Report{Prefix: s.Prefix, Model: s.Model, Findings: []Finding{}, Reviewed: []string{}, Skipped: append([]Skipped{}, s.Skipped...)}
	if run == nil {
		return r
	}
	for c := range run.SuccessfulCalls(toolReport) {
		var a reported
		if json.Unmarshal(c.Args, &a) == nil {
			r.Findings = a.Findings // the last counts
		}
	}
	for _, f := range s.Files {
		if run.Succeeded(toolReport) > 0 {
			r.Reviewed = append(r.Reviewed, f.Path)
		} else {
			r.Skipped = append(r.Skipped, Skipped{f.Path, "the run did not come to its end"})
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Title, b.Title))
	})
	r.Findings = append([]Finding{}, slices.Compact(r.Findings)...)
	return r
}

// Text writes the findings for people: FILE:LINE: SEVERITY: TITLE, and the evidence below it.
func (r *Report) Text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d: %s: %s\n", f.File, f.Line, f.Severity, oneLine(f.Title))
		for line := range strings.Lines(strings.TrimSpace(f.Evidence)) {
			fmt.Fprintf(&b, "    %s\n", strings.TrimRight(line, " \t\r\n"))
		}
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// GitHub writes the findings as workflow commands of GitHub Actions, one annotation a line.
func (r *Report) GitHub() string {
	var b strings.Builder
	for _, f := range r.Findings {
		command := cmp.Or(map[string]string{Error: "error", Warning: "warning"}[f.Severity], "notice")
		title := oneLine(f.Title)
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", command, property(path.Join(r.Prefix, f.File)), f.Line,
			property(title), data(cmp.Or(f.Evidence, title)))
	}
	return b.String()
}

// data and property escape as the toolkit of GitHub Actions does.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
