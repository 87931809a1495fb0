package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

func (r *Report) spending(b *strings.Builder) {
	b.WriteString("## What it cost\n\n| ceiling | used | limit | |\n|---|---:|---:|---|\n")
	c := r.Ceilings
	row := func(what string, c Ceiling, used, limit func(pawl.Decimal) string) {
		most, share := "none", ""
		if c.Limit != nil {
			most, share = limit(*c.Limit), fmt.Sprintf("%.0f %%", 100*c.Used / *c.Limit)
		}
		if c.Refused {
			share += ", refused the next step"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", what, used(c.Used), most, share)
	}
	whole := func(v pawl.Decimal) string { return display.Group(int(v)) }
	row("iterations", c.Iterations, whole, whole)
	if !r.rules {
		row("tokens", c.Tokens, whole, whole)
	}
	row("time", c.Time, func(v pawl.Decimal) string { return display.Lasting(seconds(float64(v))) }, func(v pawl.Decimal) string { return seconds(float64(v)).String() })
	if r.CostUSD != nil && !r.rules {
		row("cost", c.Cost, dollars, dollars)
	}
	row("failing tool turns in a row", c.ToolErrors, whole, whole)
	if r.rules {
		b.WriteString("\nThe model is a program of rules, which asks nobody and costs nothing.\n")
		return
	}
	r.parts(b)
	r.spent(b)
	r.failed(b)
}

// seconds converts seconds to a duration, exact to the nanosecond.
func seconds(v float64) time.Duration {
	return time.Duration(math.Round(v * float64(time.Second)))
}

func (r *Report) parts(b *strings.Builder) {
	if len(r.Cost) == 0 {
		return
	}
	b.WriteString("\n| model calls for | made | failed | tokens in | out | cost |\n|---|---:|---:|---:|---:|---:|\n")
	for _, part := range slices.Sorted(maps.Keys(r.Cost)) {
		p := r.Cost[part]
		cost := "–"
		if p.CostUSD != nil {
			cost = dollars(*p.CostUSD)
		}
		label := strings.ReplaceAll(span(shorten(oneLine(part), 60)), "|", `\|`)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", label, display.Group(p.ModelCalls), display.Group(p.Failed), display.Group(p.InputTokens), display.Group(p.OutputTokens), cost)
	}
}

// partsOf says what the parts of a run's tokens are whose names do not.
var partsOf = map[string]string{
	"pinned": ": prompt, tools and schema", "verbatim": ": what was said", "results": " of tools", "asides": ": judges and summaries", "failed": " attempts", "children": ": child runs",
}

// spent describes what the tokens were used for.
func (r *Report) spent(b *strings.Builder) {
	s := &r.Spending
	all := 0
	for _, share := range s.Tokens.Parts {
		all += share.Tokens
	}
	if all == 0 {
		return
	}
	b.WriteString("\n| tokens of | | | cost |\n|---|---:|---:|---:|\n")
	for part, share := range s.Tokens.Parts {
		if share.Tokens == 0 && (share.CostUSD == nil || *share.CostUSD == 0) {
			continue
		}
		cost := "–"
		if share.CostUSD != nil {
			cost = dollars(*share.CostUSD)
		}
		fmt.Fprintf(b, "| %s | %s | %.0f %% | %s |\n", part+partsOf[part], display.Group(share.Tokens), 100*float64(share.Tokens)/float64(all), cost)
	}
	if n := s.Tokens.Reasoning.Tokens; n > 0 {
		fmt.Fprintf(b, "\nOf the output, reasoning took %s.\n", display.Count(n, "token"))
	}
	if t := s.Turns; len(t) > 1 {
		most := 0
		for i := range t {
			most = max(most, t[i].InputTokens)
		}
		if first, last := t[0].InputTokens, t[len(t)-1].InputTokens; most > first {
			fmt.Fprintf(b, "\nThe input of a turn went from %s to %s, at most %s.\n", display.Count(first, "token"), display.Group(last), display.Group(most))
		}
	}
	for _, line := range []string{s.Cache.String(), s.Compaction.String()} {
		if line != "" {
			fmt.Fprintf(b, "\n%s.\n", strings.ToUpper(line[:1])+line[1:])
		}
	}
}

// String describes the cache on one line; empty: no provider reported on it.
func (c *Cache) String() string {
	if c.HitRate == nil {
		return ""
	}
	line := fmt.Sprintf("%.0f %% of the input was read from the cache (%s)", 100**c.HitRate, display.Count(c.Read, "token"))
	if c.SavedUSD != nil && *c.SavedUSD > 0 {
		line += ", which saved " + dollars(*c.SavedUSD)
	}
	var again []string
	for _, why := range []struct {
		tokens int
		name   string
	}{{c.Expired, "expired"}, {c.Compacted, "after compaction"}, {c.Found.Tokens, "after tools were found" + c.Found.costs()}, {c.Switched, "by another model or view"}} {
		if why.tokens > 0 {
			again = append(again, display.Group(why.tokens)+" "+why.name)
		}
	}
	if len(again) > 0 {
		line += "; sent again: " + strings.Join(again, ", ")
	}
	return line + "; " + c.misses()
}

// costs returns the dollars of a share in parentheses; empty: they are not known.
func (s *Share) costs() string {
	if s.CostUSD == nil {
		return ""
	}
	return " (" + dollars(*s.CostUSD) + ")"
}

func (c *Cache) misses() string {
	if c.Avoidable.Tokens == 0 {
		return "no avoidable misses"
	}
	return "avoidable misses: " + display.Count(c.Avoidable.Tokens, "token") + c.Avoidable.costs()
}

// String describes the compactions on one line; empty: there were none.
func (c *Compaction) String() string {
	if c.Times == 0 {
		return ""
	}
	line := fmt.Sprintf("the conversation was shortened %s (%s left out)", display.Count(c.Times, "time"), display.Count(c.Masked, "result"))
	cost := c.Summary.Tokens + c.Rewrite.Tokens + c.Reread.Tokens
	if c.NetUSD != nil {
		line += fmt.Sprintf("; it cost %s and saved %s, %s net", dollars(*c.CostUSD), dollars(*c.Saved.CostUSD), dollars(*c.NetUSD))
	} else {
		line += fmt.Sprintf("; it cost %s and saved %s", display.Count(cost, "token"), display.Group(c.Saved.Tokens))
	}
	line += fmt.Sprintf(" over %s", display.Count(c.Requests, "request"))
	if c.Rereads > 0 {
		line += fmt.Sprintf("; %s had to be read again (%s)", display.Count(c.Rereads, "result"), display.Count(c.Reread.Tokens, "token"))
	}
	return line
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
	from, to := r.parted(len(r.Failures), 0, mostFailures)
	if from < to {
		fmt.Fprintf(b, "- … %d earlier ones\n", to-from)
	}
	for _, f := range append(r.Failures[:from:from], r.Failures[to:]...) {
		line := phrasef("%d %s, attempt %d: %s: %s", f.Seq, name(string(f.Purpose)), f.Attempt, f.Class, said(f.Message))
		if f.RetryAt != nil {
			line += Phrase("; to be tried again at " + stamp(*f.RetryAt))
		}
		fmt.Fprintf(b, "- %s\n", line.markdown())
	}
}
