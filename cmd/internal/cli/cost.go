package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/display"
)

// cost is what a run cost, as JSON.
type cost struct {
	Run        string        `json:"run"`
	Agent      string        `json:"agent"`
	Status     pawl.Status   `json:"status"`
	Iterations int           `json:"iterations"`
	ModelCalls int           `json:"model_calls"`
	UsedTokens int           `json:"used_tokens"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
	explain.Spending
}

func costOf(r explain.Report) cost {
	return cost{Run: r.Run, Agent: r.Agent, Status: r.Status, Iterations: r.Iterations, ModelCalls: r.Usage.ModelCalls,
		UsedTokens: r.Usage.Input + r.Usage.Output, CostUSD: r.CostUSD, Spending: r.Spending}
}

// showCost prints what a run cost.
func (con *console) showCost(r explain.Report) error {
	c := costOf(r)
	if con.json {
		return printJSON(con.out, c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s, %s, %s, %s", oneLine(c.Agent), c.Run, c.Status, counted(c.Iterations, "iteration"), counted(c.ModelCalls, "model call"))
	if n := failedCalls(c.Models); n > 0 {
		fmt.Fprintf(&b, " (%d failed)", n)
	}
	b.WriteString("\n" + of(display.Group(c.UsedTokens), r.Ceilings.Tokens.Limit, func(v pawl.Decimal) string { return display.Group(int(v)) }) + " tokens, ")
	if c.CostUSD != nil {
		b.WriteString(of(usd(c.CostUSD), r.Ceilings.Cost.Limit, func(v pawl.Decimal) string { return usd(&v) }) + "\n")
	} else {
		b.WriteString("no price\n")
	}
	if c.UsedTokens > 0 {
		c.table(&b)
	}
	for _, line := range []struct{ name, text string }{{"cache", c.Cache.String()}, {"compaction", c.Compaction.String()}} {
		if line.text != "" {
			fmt.Fprintf(&b, "\n%s: %s\n", line.name, line.text)
		}
	}
	_, err := io.WriteString(con.out, b.String())
	return err
}

func failedCalls(models []explain.ModelShare) (n int) {
	for i := range models {
		n += models[i].Failed
	}
	return n
}

// of is how much of a limit is used.
func of(used string, limit *pawl.Decimal, show func(pawl.Decimal) string) string {
	if limit == nil {
		return used
	}
	return used + " of " + show(*limit)
}

// widest is the length of the longest bar in columns.
const widest = 24

func (c *cost) table(out io.Writer) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	most := 1
	for _, share := range c.Tokens.Parts {
		most = max(most, share.Tokens)
	}
	fmt.Fprintln(w, "\ttokens\t\tcost\t")
	for part, share := range c.Tokens.Parts {
		needed := part == "pinned" || part == "summaries" || part == "verbatim" || part == "results" || part == "output"
		if share.Tokens == 0 && (share.CostUSD == nil || *share.CostUSD == 0) && !needed {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", part, display.Group(share.Tokens), percent(share.Tokens, c.UsedTokens), usd(share.CostUSD), "  "+strings.Repeat("▇", (share.Tokens*widest+most-1)/most))
		if n := c.Tokens.Reasoning; part == "output" && n.Tokens > 0 {
			fmt.Fprintf(w, "of it reasoning\t%s\t%s\t%s\t\n", display.Group(n.Tokens), percent(n.Tokens, c.UsedTokens), usd(n.CostUSD))
		}
	}
	flushTable(w)
	if len(c.Models) < 2 {
		return
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, m := range c.Models {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", oneLine(m.Model), counted(m.Calls, "reply"), display.Group(m.Tokens), usd(m.CostUSD))
	}
	flushTable(w)
}

// flushTable flushes a table that is written to memory, which cannot fail.
func flushTable(w *tabwriter.Writer) { _ = w.Flush() }

func percent(n, all int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(1, all))) }

// usd formats an amount of dollars; a dash if it is unknown.
func usd(v *pawl.Decimal) string {
	switch {
	case v == nil:
		return "–"
	case *v >= 100:
		return fmt.Sprintf("$%.2f", *v)
	}
	return display.Dollars(float64(*v))
}
