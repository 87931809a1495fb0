package testfix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// Bounds on what a model reads of the mechanic's work before its first reply.
const (
	leadTime   = 30 * time.Second
	mostValues = 8
	mostLines  = 12 // ranges of lines
	mostLeads  = 6  // edits
	mostLead   = 60 // bytes of a value or a line of code
	leadSize   = 4 << 10
)

// helped reports whether a model gets the mechanic's help: one that is asked somewhere. The mechanic
// finds all of it by itself, and a script knows what it will say.
func helped(m pawl.Model) bool {
	d, ok := m.(pawl.Describer)
	return ok && d.Describe().Endpoint != ""
}

// lead finds out what the mechanic would go by: the values that tests got and wanted, the lines
// that the failing tests execute, and the edits that it ranks first. What cannot be found in
// the time there is, is left out.
func (f *Fix) lead(ctx context.Context, base cached) {
	if !helped(f.model) || !testrun.IsGoTest(f.source.Test) || len(base.verdict.Open) == 0 {
		return
	}
	ctx, end := context.WithTimeout(ctx, leadTime)
	defer end()
	var b strings.Builder
	values(&b, base.report())
	if seen, err := f.cover(ctx, coverArgs{}); err == nil {
		suspects(&b, f.spectrumOf(base.state), seen.Failing)
	}
	if list, err := f.ranking(ctx, base); err == nil && len(list) > 0 {
		b.WriteString("Small edits that rules rank first, none of them tried yet:\n")
		for _, e := range list[:min(len(list), mostLeads)] {
			fmt.Fprintf(&b, "- %s:%d %s\n", e.File, e.Line, excerpt.Clip(e.Rule, 2*mostLead))
		}
	}
	if b.Len() > 0 {
		f.leads = "\n\nWhat a program that knows rules and no meaning has found out; where it points to the wrong place, trust the code:\n" + excerpt.Clip(b.String(), leadSize)
	}
}

func values(b *strings.Builder, r gotest.Report) {
	n := 0
	for _, x := range r.Failures {
		if x.Got == "" && x.Want == "" || n == mostValues {
			continue
		}
		if n++; n == 1 {
			b.WriteString("Values:\n")
		}
		fmt.Fprintf(b, "- %s: got %s, want %s\n", x.ID, clipped(x.Got), clipped(x.Want))
	}
}

func clipped(s string) string { return excerpt.Clip(strings.Join(strings.Fields(s), " "), mostLead) }

// suspects names the lines that failing tests execute, those first that few passing tests do.
func suspects(b *strings.Builder, lines map[place]counts, failing int) {
	list := spans(lines, guilty(lines))
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y span) int { return cmp.Compare(suspicion(y.counts, failing), suspicion(x.counts, failing)) })
	b.WriteString("Lines that failing tests execute, the most suspicious first, with the number of failing and passing tests:\n")
	for _, s := range list[:min(len(list), mostLines)] {
		fmt.Fprintf(b, "- %s:%d-%d %d/%d\n", s.file, s.from, s.to, s.Failed, s.Passed)
	}
}

// seenLines are the lines that tests executed in one state of the files.
type seenLines struct {
	state string
	lines map[place]counts
}

func (f *Fix) spectrumOf(state string) map[place]counts {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.seen.state != state {
		return nil
	}
	return f.seen.lines
}

// ranking lists the mechanic's edits for a state of the files, the likeliest first.
func (f *Fix) ranking(ctx context.Context, base cached) ([]goedit.Edit, error) {
	f.Mu.Lock()
	known := f.ranked
	f.Mu.Unlock()
	if known.state == base.state && known.edits != nil {
		return known.edits, nil
	}
	h := hintsOf(base.report())
	h.Spectra = f.spectrumOf(base.state)
	list, err := goedit.Candidates(f.Root.FS(), h, &goedit.Options{Limit: mostRanked, Importer: f.imports(ctx)})
	if err != nil {
		return nil, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.ranked = ranked{state: base.state, edits: list}
	return list, nil
}

// mostRanked is how many edits the mechanic lends to a model in one state of the files.
const mostRanked = 300

// ranked are the mechanic's edits for one state of the files, and how many of them were tried
// beside a model's.
type ranked struct {
	state string
	edits []goedit.Edit
	tried int
}

func hintsOf(r gotest.Report) goedit.Hints {
	return goedit.Hints{Failures: r.Failures}
}

func proposed(e goedit.Edit) tryEdit {
	x := tryEdit{Path: e.File, Old: e.Old, New: e.New}
	for _, p := range e.Also {
		x.Also = append(x.Also, tryPiece{Path: e.File, Old: p.Old, New: p.New})
	}
	return x
}

// mostRivals is how many of the mechanic's edits are tried beside a model's.
const mostRivals = 12

// rivals returns the mechanic's next edits, to be tried beside a model's own.
func (f *Fix) rivals(ctx context.Context, base cached) []tryEdit {
	if !helped(f.model) {
		return nil
	}
	list, err := f.ranking(ctx, base)
	if err != nil {
		return nil // the model's own edits are tried all the same
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var out []tryEdit
	for _, e := range list[min(len(list), f.ranked.tried):] {
		if len(out) == mostRivals {
			break
		}
		out = append(out, proposed(e))
	}
	return out
}

// rivalled counts how many of the mechanic's edits were tried.
func (f *Fix) rivalled(state string, n int) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.ranked.state == state {
		f.ranked.tried += n
	}
}
