package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
)

// An Attempt is what a run with a goal changed between two measurements, and
// the result of the second one.
type Attempt struct {
	Seq       uint64   `json:"seq"` // the first entry of the change
	Iteration int      `json:"iteration"`
	Changes   []Phrase `json:"changes"` // a line for each call
	Said      Phrase   `json:"said"`
}

// byRules reports whether an agent's model is a program of rules. It counts one token a call,
// so that none is taken for unknown, and they mean nothing.
func byRules(d pawl.Declaration) bool { return d.Model.Name == "mechanic" }

// trying collects the attempts of a run.
type trying struct {
	attempts []Attempt
	now      Attempt // in progress
	flaky    []string
}

// changed records a completed call. A read is not an attempt.
func (f *fold) changed(e pawl.Entry, done pawl.ToolFinished) {
	c, known := f.state.Call(done.Call)
	if f.decl.Goal == "" || !known || done.Status != pawl.ToolOK || strings.HasPrefix(done.Tool, "__") {
		return
	}
	args := c.Args
	if c.Edited != nil {
		args = c.Edited
	}
	change := Phrase(name(done.Call+" "+done.Tool)) + " "
	var repaired struct{ Summary string }
	switch {
	case done.Tool == "repair" && json.Unmarshal(done.Result, &repaired) == nil && repaired.Summary != "":
		change += Phrase(said(repaired.Summary)) // of the mechanic of pawl fix, which chooses its edits in the call
	case c.Effect == pawl.Write:
		change += changes(args)
	default:
		return
	}
	if len(f.now.Changes) == 0 {
		f.now.Seq, f.now.Iteration = e.Seq, e.Iteration
	}
	f.now.Changes = append(f.now.Changes, change)
}

// changes describes on one line the change that a call's arguments ask for:
// text replaced in a file, a whole file, or any other arguments.
func changes(args json.RawMessage) Phrase {
	var a struct {
		Path    string  `json:"path"`
		Old     *string `json:"old"`
		New     *string `json:"new"`
		Content *string `json:"content"`
	}
	switch err := json.Unmarshal(args, &a); {
	case err != nil || a.Path == "":
	case a.Old != nil && a.New != nil:
		return phrasef("%s: %s → %s", name(a.Path), name(*a.Old), name(*a.New))
	case a.Content != nil:
		return phrasef("%s: written, %s", name(a.Path), display.Count(strings.Count(*a.Content, "\n"), "line"))
	}
	return Phrase(data(args))
}

// weighed ends an attempt with the goal's new measurement.
func (f *fold) weighed(before *pawl.Measured, now pawl.Measured) {
	if len(f.now.Changes) == 0 {
		return
	}
	var words []string
	switch {
	case before == nil:
		words = append(words, fmt.Sprintf("metric is %g", now.Value))
	case len(before.Open)+len(now.Open) > 0:
		words = append(words, fmt.Sprintf("open %d → %d", len(before.Open), len(now.Open)))
		words = append(words, parts(meter.Moved(before.Open, now.Open))...)
		if slices.Equal(before.Open, now.Open) {
			words = append(words, "no test changed")
		}
	default:
		words = append(words, fmt.Sprintf("metric %g → %g", before.Value, now.Value))
	}
	f.attempt(Phrase(strings.Join(words, "; ")))
}

// attempt adds the attempt in progress to the report.
func (f *fold) attempt(said Phrase) {
	if len(f.now.Changes) == 0 {
		return
	}
	f.now.Said = said
	f.attempts = append(f.attempts, f.now)
	f.now = Attempt{}
}

// looked records the flaky tests that an observation names.
func (f *fold) looked(e pawl.Observed) {
	var seen struct {
		Flaky []string `json:"flaky"`
	}
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &seen) == nil && len(seen.Flaky) > 0 {
		f.flaky = seen.Flaky
	}
}

func (r *Report) tries(b *strings.Builder) {
	if len(r.Attempts) == 0 && len(r.Flaky) == 0 {
		return
	}
	b.WriteString("## Attempts\n\n")
	if len(r.Attempts) == 0 {
		b.WriteString("Nothing was changed.\n")
	}
	from, to := r.parted(len(r.Attempts), headAttempts, tailAttempts)
	for i, t := range r.Attempts {
		switch {
		case i < from || i >= to:
			fmt.Fprintf(b, "%d. %s: %s\n", i+1, join(t.Changes, "; ").markdown(), t.Said.markdown())
		case i == from:
			fmt.Fprintf(b, "\n… %s left out …\n\n", display.Count(to-from, "attempt"))
		}
	}
	b.WriteString("\n")
	if len(r.Flaky) > 0 {
		fmt.Fprintf(b, "Failing by chance, and so no part of the goal: %s.\n\n", Phrase(names(r.Flaky, 10)).markdown())
	}
}
