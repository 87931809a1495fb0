package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func (r *Report) spending(b *strings.Builder) {
	b.WriteString("## What it cost\n\n| ceiling | used | limit | |\n|---|---:|---:|---|\n")
	c := r.Ceilings
	row := func(what string, c Ceiling, show func(float64) string) {
		limit, share := "none", ""
		if c.Limit != nil {
			limit, share = show(*c.Limit), fmt.Sprintf("%.0f %%", 100*c.Used / *c.Limit)
		}
		if c.Refused {
			share += ", refused the next step"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", what, show(c.Used), limit, share)
	}
	whole := func(v float64) string { return group(int(v)) }
	row("iterations", c.Iterations, whole)
	row("tokens", c.Tokens, whole)
	row("time", c.Time, func(v float64) string { return lasting(time.Duration(v * float64(time.Second))) })
	if r.CostUSD != nil {
		row("cost", c.Cost, dollars)
	}
	row("failing tool turns in a row", c.ToolErrors, whole)
	r.parts(b)
	r.grew(b)
	r.failed(b)
}

func (r *Report) parts(b *strings.Builder) {
	if len(r.Cost) == 0 {
		return
	}
	b.WriteString("\n| model calls for | made | failed | tokens in | out | cost |\n|---|---:|---:|---:|---:|---:|\n")
	for _, part := range slices.Sorted(maps.Keys(r.Cost)) {
		p := r.Cost[part]
		cost := "unknown"
		if p.CostUSD != nil {
			cost = dollars(*p.CostUSD)
		}
		label := strings.ReplaceAll(span(shorten(oneLine(part), 60)), "|", `\|`)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", label, group(p.ModelCalls), group(p.Failed), group(p.InputTokens), group(p.OutputTokens), cost)
	}
}

func (r *Report) grew(b *strings.Builder) {
	g := r.growth
	if g.turns > 1 && g.most > g.first {
		fmt.Fprintf(b, "\nThe input of a turn went from %s to %s, at most %s.\n", count(g.first, "token"), group(g.last), group(g.most))
	}
	if g.compacted > 0 {
		fmt.Fprintf(b, "\nThe conversation was shortened %s, which took %s off the turns that followed.\n", count(g.compacted, "time"), count(g.saved, "token"))
	}
}

func (r *Report) failed(b *strings.Builder) {
	if len(r.Failures) == 0 {
		return
	}
	byClass := map[string]int{}
	for _, f := range r.Failures {
		byClass[f.Class]++
	}
	var classes []string
	for _, c := range slices.Sorted(maps.Keys(byClass)) {
		classes = append(classes, fmt.Sprintf("%s %d", c, byClass[c]))
	}
	fmt.Fprintf(b, "\n## Failed model calls\n\nBy class: %s.\n\n", strings.Join(classes, ", "))
	skip := len(r.Failures) - mostFailures
	for i, f := range r.Failures {
		if skip > 0 && !r.opt.Full && i < skip {
			if i == 0 {
				fmt.Fprintf(b, "- … %d earlier ones\n", skip)
			}
			continue
		}
		line := phrasef("%d %s, attempt %d: %s: %s", f.Seq, name(string(f.Purpose)), f.Attempt, f.Class, said(f.Message))
		if f.RetryAt != nil {
			line += phrase("; to be tried again at " + stamp(*f.RetryAt))
		}
		fmt.Fprintf(b, "- %s\n", line.markdown())
	}
}
