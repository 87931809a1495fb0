package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/figure"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

func planCommand(a *app) *cobra.Command {
	d := &driving{}
	o := &explain.PlanOptions{}
	c := a.command("plan SPEC [INPUT] [flags]", "Project what a run of SPEC may cost, without calling a model", cobra.RangeArgs(1, 2),
		func(ctx context.Context, args []string) (int, error) { return planRun(ctx, a, d, args[0], args[1:], o) })
	c.Flags().IntVar(&o.Iterations, "iterations", 0, "turns of the likely run (default: half its limit, at most 20)")
	c.Flags().IntVar(&o.Result, "result", 0, "tokens of tool results per turn (default: 1200, or less if the tools return less)")
	d.flag(c, "model", "limit", "stop", "policy", "tools", "workflows")
	return looking(c)
}

// planned is a plan with the date of its prices.
type planned struct {
	explain.Plan
	PricesAsOf   *string `json:"prices_as_of"` // null: the price is not from the table
	PricesSource *string `json:"prices_source"`
}

func planRun(ctx context.Context, a *app, d *driving, file string, rest []string, o *explain.PlanOptions) (int, error) {
	if o.Iterations < 0 || o.Result < 0 {
		return 0, misuse("--iterations and --result: write a number above zero")
	}
	set, err := d.settings()
	if err != nil {
		return 0, err
	}
	registry := a.registry()
	options := &spec.Options{Registry: registry, Model: d.model, Stop: d.stop, Limits: set.limits, Tools: d.tools, Workflows: d.workflows}
	s, err := loadSpec(file, options)
	if err == nil && s.Copied { // nothing is run, so any copy will do
		options.Workspace = &spec.Workspace{}
		s, err = loadSpec(file, options)
	}
	if err != nil {
		return 0, err
	}
	if o.Input = s.Input; len(rest) > 0 {
		if o.Input, err = a.input(ctx, rest, s.Input); err != nil {
			return 0, err
		}
	}
	agent, err := a.agentOf(ctx, s, registry)
	if err != nil {
		return 0, err
	}
	if agent, err = under(set.policy, agent); err != nil {
		return 0, err
	}
	machine, err := pawl.NewMachine(agent)
	if err != nil {
		return 0, refused(err)
	}
	a.warn(s, registry)
	p := planned{Plan: explain.PlanOf(machine, o)}
	if info := machine.Declaration().Model; info.PriceFrom == "table" || info.PriceFrom == "list" {
		of, source := day(sheet.AsOf()), sheet.Source()
		p.PricesAsOf, p.PricesSource = &of, &source
	}
	if a.json {
		return 0, printJSON(a.out, p)
	}
	_, err = io.WriteString(a.out, p.text())
	return 0, err
}

// text formats a plan for people.
func (p *planned) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s", oneLine(p.Agent), oneLine(p.Model))
	switch {
	case p.PricesAsOf != nil:
		fmt.Fprintf(&b, ", prices of %s", *p.PricesAsOf)
	case p.Likely.CostUSD == nil:
		b.WriteString(", which has no price")
	}
	b.WriteString("\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tturns\ttokens\tcost\t")
	for _, row := range []struct {
		name string
		o    explain.Outcome
	}{{"low", p.Low}, {"likely", p.Likely}, {"ceiling", p.Ceiling}} {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", row.name, figure.Group(row.o.Iterations), figure.Group(row.o.Tokens), usd(row.o.CostUSD))
	}
	flushTable(w)
	parts := []string{}
	for _, part := range []struct {
		name   string
		tokens int
	}{{"pinned", p.Parts.Pinned}, {"verbatim", p.Parts.Verbatim}, {"results", p.Parts.Results}, {"asides", p.Parts.Asides}, {"output", p.Parts.Output}} {
		if part.tokens > 0 {
			parts = append(parts, part.name+" "+figure.Group(part.tokens))
		}
	}
	if p.Likely.InputTokens > 0 && p.Likely.CacheReadTokens > 0 {
		parts = append(parts, percent(p.Likely.CacheReadTokens, p.Likely.InputTokens)+" of the input from the cache")
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s%s\n", name, text)
		}
	}
	b.WriteByte('\n')
	line("likely", strings.Join(parts, ", "))
	was := map[bool]string{true: "on", false: "off"}
	text := fmt.Sprintf("%s; %s: %s", was[p.Compaction], was[!p.Compaction], outcome(p.Otherwise))
	if p.Otherwise.Iterations != p.Likely.Iterations {
		text += " for " + counted(p.Otherwise.Iterations, "turn")
	}
	if p.Otherwise.Tokens == p.Likely.Tokens {
		text = was[p.Compaction] + ", but this run is too short to need it"
	}
	line("compaction", text)
	for i, text := range p.Assumptions {
		name := ""
		if i == 0 {
			name = "assumed"
		}
		line(name, text)
	}
	line("not in it", strings.Join(p.Missing, ", "))
	return b.String()
}
