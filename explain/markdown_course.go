package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// parted returns which of n items a page leaves out between the first and the
// last ones; a single one is shown.
func (r *Report) parted(n, head, tail int) (from, to int) {
	if r.opt.Full || n <= head+tail+1 {
		return n, n
	}
	return head, n - tail
}

// iteration is the decisions of one turn.
type iteration struct {
	n     int
	steps []Decision
}

func (r *Report) course(b *strings.Builder) {
	b.WriteString("## What it did, and why\n\n")
	var all []iteration
	for _, d := range r.Decisions {
		if n := len(all); n == 0 || all[n-1].n != d.Iteration {
			all = append(all, iteration{n: d.Iteration})
		}
		last := &all[len(all)-1]
		last.steps = append(last.steps, d)
	}
	from, to := r.parted(len(all), headIterations, tailIterations)
	for _, it := range all[:from] {
		r.iteration(b, it)
	}
	if from < to {
		var steps []Decision
		for _, it := range all[from:to] {
			steps = append(steps, it.steps...)
		}
		first, last := all[from], all[to-1]
		fmt.Fprintf(b, "### Iterations %d to %d, left out\n\n%s. Entries %d to %d; all of it is in %s.\n\n", first.n, last.n,
			kinds(steps), first.steps[0].Seq, last.steps[len(last.steps)-1].last, span("pawl explain "+shell(r.Run)+" --json"))
	}
	for _, it := range all[to:] {
		r.iteration(b, it)
	}
}

func (r *Report) iteration(b *strings.Builder, it iteration) {
	if it.n == 0 {
		b.WriteString("### Before the first turn\n\n")
	} else {
		fmt.Fprintf(b, "### Iteration %d\n\n", it.n)
	}
	from, to := r.parted(len(it.steps), headSteps, tailSteps)
	for _, d := range it.steps[:from] {
		r.decision(b, d)
	}
	if from < to {
		fmt.Fprintf(b, "- … left out: %s\n", kinds(it.steps[from:to]))
	}
	for _, d := range it.steps[to:] {
		r.decision(b, d)
	}
	b.WriteString("\n")
}

// kinds counts steps that a page does not show.
func kinds(steps []Decision) string {
	counts := map[string]int{}
	for i := range steps {
		counts[steps[i].Step]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, display.Count(counts[kind], kind+" step"))
	}
	return strings.Join(parts, ", ")
}

func (r *Report) decision(b *strings.Builder, d Decision) {
	fmt.Fprintf(b, "- %d **%s** %s", d.Seq, d.Step, d.Subject.markdown())
	if d.Why != "" {
		fmt.Fprintf(b, ": %s", d.Why.markdown())
	}
	b.WriteString("\n")
	from, to := r.parted(len(d.Outcome), headLines, tailLines)
	for i, o := range d.Outcome {
		switch {
		case i < from || i >= to:
			fmt.Fprintf(b, "  - %s\n", o.markdown())
		case i == from:
			fmt.Fprintf(b, "  - … %d more\n", to-from)
		}
	}
}
