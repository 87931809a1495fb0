package explain

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/figure"
)

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
	if r.opt.Full || len(all) <= headIterations+tailIterations+leastFolded {
		for _, it := range all {
			r.iteration(b, it)
		}
		return
	}
	for _, it := range all[:headIterations] {
		r.iteration(b, it)
	}
	middle := all[headIterations : len(all)-tailIterations]
	var t tally
	for _, it := range middle {
		for i := range it.steps {
			t.add(it.steps[i].tally)
		}
	}
	first, last := middle[0], middle[len(middle)-1]
	fmt.Fprintf(b, "### Iterations %d to %d, left out\n\n%s. Entries %d to %d; all of it is in %s.\n\n", first.n, last.n,
		t.String(), first.steps[0].Seq, last.steps[len(last.steps)-1].last, span("pawl explain "+shell(r.Run)+" --json"))
	for _, it := range all[len(all)-tailIterations:] {
		r.iteration(b, it)
	}
}

func (r *Report) iteration(b *strings.Builder, it iteration) {
	if it.n == 0 {
		b.WriteString("### Before the first turn\n\n")
	} else {
		fmt.Fprintf(b, "### Iteration %d\n\n", it.n)
	}
	for i, d := range it.steps {
		if n := len(it.steps); !r.opt.Full && n > headSteps+tailSteps+1 && i >= headSteps && i < n-tailSteps {
			if i == headSteps {
				var t tally
				for _, d := range it.steps[headSteps : n-tailSteps] {
					t.add(d.tally)
				}
				fmt.Fprintf(b, "- … %s left out: %s\n", figure.Count(n-tailSteps-headSteps, "step"), t.String())
			}
			continue
		}
		r.decision(b, d)
	}
	b.WriteString("\n")
}

func (r *Report) decision(b *strings.Builder, d Decision) {
	fmt.Fprintf(b, "- %d **%s** %s", d.Seq, d.Step, d.subject.markdown())
	if d.why != "" {
		fmt.Fprintf(b, ": %s", d.why.markdown())
	}
	b.WriteString("\n")
	for i, o := range d.outcome {
		if n := len(d.outcome); !r.opt.Full && n > headLines+tailLines+1 && i >= headLines && i < n-tailLines {
			if i == headLines {
				fmt.Fprintf(b, "  - … %d more\n", n-headLines-tailLines)
			}
			continue
		}
		fmt.Fprintf(b, "  - %s\n", o.markdown())
	}
}
