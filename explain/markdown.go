package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// page writes a report as Markdown.
type page struct {
	strings.Builder
	*Report
}

// Markdown returns the report for people, one to two pages long however long
// the run was.
func (r Report) Markdown() string {
	if r.state == nil { // it was read from JSON
		r.state = new(pawl.State)
	}
	p := &page{Report: &r}
	p.head()
	p.whyStopped()
	p.answer()
	p.waits()
	p.heading("What to do next")
	if r.Status == pawl.StatusSuccess && (len(r.Next) == 0 || r.Action != r.Next[0].Command) {
		p.printf("Nothing: the run is done.\n\n")
	}
	var next, led []string
	for _, a := range r.Next {
		next = append(next, "- "+span(a.Command)+" "+a.Why.markdown())
	}
	p.list(next, 3, 0)
	if text := r.Goal.text(); text != "" {
		p.heading("The goal")
		p.printf("%s\n\n", text.markdown())
	}
	if c, ok := readCauses(r.Causes); ok && r.Causes != nil {
		p.heading("What led to what")
		for _, line := range c.lines() {
			led = append(led, "- "+line.markdown())
		}
		if len(led) == 0 {
			led = []string{"No result was used in a later call or in the answer, as far as its values show."}
		}
		p.list(led, 20, 0)
	}
	p.course()
	p.spent()
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) heading(text string) { p.printf("## %s\n\n", text) }

// list writes lines, only the first and last of them if there are more. It does not
// leave a single line out.
func (p *page) list(lines []string, head, tail int) {
	left := len(lines) - head - tail
	for i, line := range lines {
		switch {
		case left <= 1 || i < head || i >= len(lines)-tail:
			p.printf("%s\n", line)
		case i == head:
			p.printf("- … %d more, in %s\n", left, span("pawl explain "+shell(p.Run)+" --json"))
		}
	}
	if len(lines) > 0 {
		p.printf("\n")
	}
}

func (p *page) head() {
	begun, _ := p.state.Start()
	p.printf("# Run %s: %s\n\n", code(p.Run), p.Status.String())
	d := begun.Declaration
	p.printf("Agent %s, model %s, loop %s", code(d.Agent), code(d.ModelInfo.Name), code(d.Loop))
	if begun.Parent != "" {
		p.printf(", child of %s", code(begun.Parent))
	}
	owner, how := begun.Owner, "Begun"
	if p.fork.From != "" {
		owner, how = p.fork.Owner, "Forked from run "+code(p.fork.From)
	}
	p.printf(". %s %s", how, stamp(p.state.Head().Created))
	if owner != "" {
		p.printf(" by %s", code(person(owner)))
	}
	p.printf("; the last entry, %d, was written %s.\n%s running.\n", p.state.Seq(), stamp(p.state.Time()), p.Used())
	if text := plan(p.state); text != "" {
		p.printf("\nPlan mode: %s.\n", text.markdown())
	}
	p.printf("\nIt was asked:\n\n%s\n", fence(long(begun.Input)))
	if c := begun.Continues; c != nil && c.By != "" {
		p.printf("Leg %d of a conversation: %s handed it over.\n\n%s\n", len(c.Legs)+1, code(c.By), fence(long(c.Reason)))
	}
	if len(p.Conversation) > 0 {
		p.printf("The legs of the conversation:\n\n")
		for i, leg := range p.Conversation {
			here := ""
			if leg.Run == p.Run {
				here = " (this run)"
			}
			p.printf("%d. %s%s\n", i+1, code(shorten(leg.String(), 300)), here)
		}
		p.printf("\n")
	}
}

// Used is what a run used, in one line.
func (r *Report) Used() string {
	text := display.Count(r.Iterations, "iteration") + ", " + display.Count(r.ToolCalls, "tool call")
	if !r.rules() {
		text += ", "
		if r.Spending.Failed.Tokens > 0 { // replies that broke off count as the longest that they may have had
			text += "at most "
		}
		text += display.Count(r.Usage.Input, "token") + " in, " + display.Group(r.Usage.Output) + " out"
		if r.CostUSD != nil {
			text += ", " + dollars(*r.CostUSD)
		}
		if r.Price != nil && *r.Price == "list" {
			text += " by list price"
		}
	}
	return text + ", " + display.Lasting(time.Duration(r.ElapsedMS)*time.Millisecond)
}

var statusWords = map[pawl.Status]string{
	pawl.StatusSuccess:           "It is done: a success condition held.",
	pawl.StatusExhausted:         "It met a limit before it was done.",
	pawl.StatusNoProgress:        "It got nowhere: it went in circles, only talked, or failed turn after turn.",
	pawl.StatusWaitingApproval:   "It is parked until a person approves or denies a call.",
	pawl.StatusWaitingInput:      "It is parked until a person answers a question.",
	pawl.StatusWaitingClientTool: "It is parked until the client hands in the result of a call.",
	pawl.StatusWaitingDoubt:      "It waits until a person says whether a write took place.",
	pawl.StatusExpired:           "The request it waited for has expired.",
	pawl.StatusDenied:            "A person denied a call, and the agent is to stop at that.",
	pawl.StatusPlanFailed:        "The model's replies were rejected, several turns in a row.",
	pawl.StatusFailed:            "Something it needs is broken or refused.",
	pawl.StatusCancelled:         "It was cancelled.",
	pawl.StatusPaused:            "It is parked and goes on when it is resumed.",
	pawl.StatusInterrupted:       "It was running, and its process ended.",
	pawl.StatusRunning:           "It has not stopped: by its log it is running.",
	pawl.StatusQueued:            "It waits in the queue for a worker of its agent.",
}

func (p *page) whyStopped() {
	p.heading("Why it stopped")
	words := cmp.Or(statusWords[p.Status], "The log does not say where it stands.")
	switch {
	case p.stopFailed():
		words = "Its stop condition says that it failed."
	case p.Status == pawl.StatusFailed && p.Reason.Leaf == "grounding":
		words = "Its answers said what the evidence does not support."
	}
	if p.Reason.Leaf != "" && p.Status != pawl.StatusPlanFailed {
		words += " " + code(p.Reason.Leaf) + " decided"
		if p.Reason.Condition != "" && p.Reason.Condition != p.Reason.Leaf {
			words += ", in the condition " + code(p.Reason.Condition)
		}
		words += "."
	}
	p.printf("%s\n", words)
	if p.Reason.Detail != "" {
		p.printf("\n%s", fence(long(p.Reason.Detail)))
	}
	if at := p.state.WakeAt(); !at.IsZero() && p.Status == pawl.StatusPaused {
		p.printf("\nIt wants to go on at %s.\n", stamp(at))
	}
	p.printf("\n")
	if len(p.flight) > 0 {
		p.printf("In flight at the end of the log:\n\n")
		for _, phrase := range p.flight {
			p.printf("- %s\n", phrase.markdown())
		}
		p.printf("\n")
	}
}

func (p *page) answer() {
	switch {
	case p.Answer == "":
		return
	case p.Landing:
		p.heading("Landing answer")
		p.printf("Given without tools when the limit was met; it is what was known then, not a success.\n\n")
	case p.Status == pawl.StatusSuccess:
		p.heading("Answer")
	default:
		p.heading("Latest answer")
		p.printf("The run did not end with it.\n\n")
	}
	p.printf("%s\n", fence(long(p.Answer)))
	if len(p.Citations) > 0 {
		p.printf("It cites:\n\n")
		for i, source := range p.Citations {
			p.printf("%d. %s\n", i+1, code(shorten(source.String(), 300)))
		}
		p.printf("\n")
	}
}

// long returns a text of several lines, truncated if it is too long.
func long(text string) string {
	text, _ = display.Cut(clean(text), 4<<10)
	return text
}

func (p *page) waits() {
	if len(p.Pending) == 0 {
		return
	}
	p.heading("What it waits for")
	for _, w := range p.Pending {
		line := phrasef("%s %s", w.Kind, name(w.Call+" "+w.Tool))
		if w.Kind != "input" && w.Tool != "" {
			line += Phrase(" " + undecided(w.Args))
		}
		if w.Reason != "" {
			line += Phrase(": " + said(w.Reason))
		}
		switch {
		case w.AnsweredAt != nil:
			line += phrasef(" (answered %s by %s, not yet read)", stamp(*w.AnsweredAt), said(w.AnsweredBy))
		case w.ExpiresAt != nil && p.now.Before(*w.ExpiresAt):
			line += phrasef(", until %s (%s left)", stamp(*w.ExpiresAt), display.Lasting(w.ExpiresAt.Sub(p.now)))
		case w.ExpiresAt != nil:
			line += phrasef(", expired %s", stamp(*w.ExpiresAt))
		}
		p.printf("- %s\n", line.markdown())
	}
	if waited := p.now.Sub(p.state.Time()); waited > 0 {
		p.printf("\nIt has been waiting for %s.\n", display.Lasting(waited))
	}
	p.printf("\n")
}

// course writes the decisions, by iteration: the first three and the last five.
func (p *page) course() {
	p.heading("What it did, and why")
	var all [][]Decision
	for i, d := range p.Decisions {
		if i == 0 || p.Decisions[i-1].Iteration != d.Iteration {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], d)
	}
	const head, tail = 3, 5
	for i, steps := range all {
		switch n := steps[0].Iteration; {
		case len(all) > head+tail+1 && i >= head && i < len(all)-tail:
			if i == head {
				p.printf("### Iterations %d to %d, left out\n\n%s has all of it.\n\n", n, all[len(all)-tail-1][0].Iteration, span("pawl explain "+shell(p.Run)+" --json"))
			}
			continue
		case n == 0:
			p.printf("### Before the first turn\n\n")
		default:
			p.printf("### Iteration %d\n\n", n)
		}
		var lines []string
		for _, d := range steps {
			lines = append(lines, p.decision(&d))
		}
		p.list(lines, 8, 5)
	}
}

// decision is a step with at most eight of its results.
func (p *page) decision(d *Decision) string {
	lines := []string{fmt.Sprintf("- %d **%s** %s", d.Seq, d.Step, d.Subject.markdown())}
	if d.Why != "" {
		lines[0] += ": " + d.Why.markdown()
	}
	for i, o := range d.Outcome {
		if i == 7 && len(d.Outcome) > 8 {
			lines = append(lines, fmt.Sprintf("  - … %d more", len(d.Outcome)-i))
			break
		}
		lines = append(lines, "  - "+o.markdown())
	}
	return strings.Join(lines, "\n")
}

// CostMarkdown returns the part of the report that says what the run cost.
func (r Report) CostMarkdown() string {
	p := &page{Report: &r}
	p.spent()
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// spent writes the ceilings and what the run cost.
func (p *page) spent() {
	p.heading("What it cost")
	c, rules := p.Ceilings, p.rules()
	whole := func(v pawl.Decimal) string { return display.Group(int(v)) }
	seconds := func(v pawl.Decimal) string {
		return display.Lasting(time.Duration(math.Round(float64(v) * float64(time.Second))))
	}
	var rows [][]string
	for _, row := range []struct {
		what string
		Ceiling
		show func(pawl.Decimal) string
	}{
		{"iterations", c.Iterations, whole},
		{"tokens", c.Tokens, whole},
		{"time", c.Time, seconds},
		{"cost", c.Cost, dollars},
		{"failing tool turns in a row", c.ToolErrors, whole},
	} {
		if row.what == "cost" && p.CostUSD == nil || rules && (row.what == "cost" || row.what == "tokens") {
			continue
		}
		most, share := "none", ""
		if row.Limit != nil {
			most, share = row.show(*row.Limit), fmt.Sprintf("%.0f %%", 100*row.Used / *row.Limit)
		}
		if row.Refused {
			share += ", refused the next step"
		}
		rows = append(rows, []string{row.what, row.show(row.Used), most, share})
	}
	p.table("| ceiling | used | limit | |", rows)
	if rules {
		p.printf("The model is a program of rules, which asks nobody and costs nothing.\n")
		return
	}
	rows = nil
	for _, part := range slices.Sorted(maps.Keys(p.Cost)) {
		of := p.Cost[part]
		rows = append(rows, []string{code(shorten(part, 60)), display.Group(of.ModelCalls), display.Group(of.Failed), display.Group(of.InputTokens), display.Group(of.OutputTokens), price(of.CostUSD)})
	}
	p.table("| model calls for | made | failed | tokens in | out | cost |", rows)
	p.details()
	byClass := map[string]int{}
	for _, f := range p.Failures {
		byClass[f.Class]++
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		p.printf("%s failed: %s.\n\n", display.Count(byClass[class], "model call"), class)
	}
}

// table writes a table whose columns but the first hold numbers.
func (p *page) table(head string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.printf("%s\n|---|%s\n", head, strings.Repeat("---:|", len(rows[0])-1))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		p.printf("| %s |\n", strings.Join(row, " | "))
	}
	p.printf("\n")
}

func price(v *pawl.Decimal) string {
	if v == nil {
		return "–"
	}
	return dollars(*v)
}

// details writes how the input grew, and what reasoning, caches and compactions made of the cost.
func (p *page) details() {
	s := &p.Spending
	if n := s.Reasoning.Tokens; n > 0 {
		p.printf("Of the output, reasoning took %s.\n\n", display.Count(n, "token"))
	}
	if s.Failed.Tokens > 0 {
		p.printf("Of all, attempts without a reply took %s.\n\n", s.Failed)
	}
	if t := s.TurnInput; t.Most > t.First {
		p.printf("The input of a turn went from %s to %s, at most %s.\n\n", display.Count(t.First, "token"), display.Group(t.Last), display.Group(t.Most))
	}
	for _, line := range []string{s.Cache.String(), s.Compaction.String()} {
		if line != "" {
			p.printf("%s.\n\n", strings.ToUpper(line[:1])+line[1:])
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
	return line
}

// String describes the compactions on one line; empty: there were none.
func (c *Compaction) String() string {
	if c.Times == 0 {
		return ""
	}
	line := fmt.Sprintf("the conversation was shortened %s (%s left out), which saved %s", display.Count(c.Times, "time"), display.Count(c.Masked, "result"), c.Saved)
	if c.Summary.Tokens > 0 {
		line += fmt.Sprintf("; its summaries took %s", c.Summary)
	}
	return line
}

// String is the tokens of a share, and its cost if it is known.
func (s Share) String() string {
	text := display.Count(s.Tokens, "token")
	if s.CostUSD != nil {
		text += " (" + dollars(*s.CostUSD) + ")"
	}
	return text
}
