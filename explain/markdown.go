package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// How much of a long run a page shows, unless [Options].Full is set.
const (
	headIterations = 3
	tailIterations = 5
	headSteps      = 8
	tailSteps      = 5
	headLines      = 5
	tailLines      = 2
	headAttempts   = 8
	tailAttempts   = 12
	mostFailures   = 8
	mostAnswer     = 4 << 10
)

// Markdown returns the report for people, one to two pages long however long
// the run was, unless [Options].Full is set.
func (r Report) Markdown() string {
	var b strings.Builder
	r.head(&b)
	r.whyStopped(&b)
	r.answer(&b)
	r.waits(&b)
	r.next(&b)
	r.goal(&b)
	r.tries(&b)
	r.led(&b)
	r.course(&b)
	r.spending(&b)
	return b.String()
}

func (r *Report) head(b *strings.Builder) {
	fmt.Fprintf(b, "# Run %s: %s\n\n", span(oneLine(r.Run)), r.Status.String())
	d := r.begun.Declaration
	fmt.Fprintf(b, "Agent %s, model %s, loop %s", span(oneLine(d.Agent)), span(oneLine(d.Model.Name)), span(oneLine(d.Loop)))
	if r.begun.Parent != "" {
		fmt.Fprintf(b, ", child of %s", span(oneLine(r.begun.Parent)))
	}
	owner := r.begun.Owner
	if r.fork.From != "" {
		owner = r.fork.Owner
		fmt.Fprintf(b, ". Forked from run %s %s", span(oneLine(r.fork.From)), stamp(r.created))
	} else {
		fmt.Fprintf(b, ". Begun %s", stamp(r.created))
	}
	if owner != "" {
		fmt.Fprintf(b, " by %s", span(oneLine(person(owner))))
	}
	fmt.Fprintf(b, "; the last entry, %d, was written %s.\n", r.seq, stamp(r.updated))
	fmt.Fprintf(b, "%s running.\n", r.Used())
	if r.planned != "" {
		fmt.Fprintf(b, "\nPlan mode: %s.\n", r.planned.markdown())
	}
	fmt.Fprintf(b, "\nIt was asked:\n\n%s\n", fence(r.long(r.begun.Input)))
	if c := r.begun.Continues; c != nil && c.By != "" {
		fmt.Fprintf(b, "Leg %d of a conversation: %s handed it over.\n\n%s\n", len(c.Legs)+1, span(oneLine(c.By)), fence(r.long(c.Reason)))
		fmt.Fprintf(b, "The legs before, %s, used %s, %s and %s of the %s, %s and %s that all legs have", spans(c.Legs), display.Count(c.Used.Iterations, "iteration"),
			display.Count(c.Used.Tokens, "token"), display.Lasting(c.Used.Time), display.Group(c.Limits.Iterations), display.Group(c.Limits.Tokens), display.Duration(c.Limits.Time))
		if c.Used.Cost > 0 {
			fmt.Fprintf(b, ", and %s", dollars(pawl.Decimal(c.Used.Cost)))
		}
		b.WriteString(".\n\n")
	}
	if len(r.Conversation) > 0 {
		b.WriteString("The legs of the conversation:\n\n")
		for i, leg := range r.Conversation {
			here := ""
			if leg.Run == r.Run {
				here = " (this run)"
			}
			fmt.Fprintf(b, "%d. %s%s\n", i+1, span(shorten(oneLine(leg.String()), 300)), here)
		}
		b.WriteString("\n")
	}
}

// Used is what a run used, in one line.
func (r *Report) Used() string {
	text := display.Count(r.Iterations, "iteration") + ", " + display.Count(r.ToolCalls, "tool call")
	if !r.rules {
		text += ", "
		if r.Spending.Tokens.Failed.Tokens > 0 { // replies that broke off count as the longest that they may have had
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

func spans(all []string) string {
	marked := make([]string, len(all))
	for i, one := range all {
		marked[i] = span(oneLine(one))
	}
	return strings.Join(marked, ", ")
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

func (r *Report) whyStopped(b *strings.Builder) {
	b.WriteString("## Why it stopped\n\n")
	words := statusWords[r.Status]
	if r.Status == pawl.StatusFailed && r.Reason.Leaf == "grounding" {
		words = "Its answers said what the evidence does not support."
	}
	if r.stopFailed() {
		words = "Its stop condition says that it failed."
	}
	words = cmp.Or(words, "The log does not say where it stands.")
	b.WriteString(words)
	if r.Reason.Leaf != "" && r.Status != pawl.StatusPlanFailed {
		fmt.Fprintf(b, " %s decided", span(oneLine(r.Reason.Leaf)))
		if r.Reason.Condition != "" && r.Reason.Condition != r.Reason.Leaf {
			fmt.Fprintf(b, ", in the condition %s", span(oneLine(r.Reason.Condition)))
		}
		b.WriteString(".")
	}
	b.WriteString("\n")
	if r.Reason.Detail != "" {
		fmt.Fprintf(b, "\n%s", fence(r.long(r.Reason.Detail)))
	}
	if r.Ceilings.Iterations.Refused {
		fmt.Fprintf(b, "\nThe next step would have been turn %s.\n", display.Group(r.Iterations+1))
	}
	if !r.wakeAt.IsZero() && r.Status == pawl.StatusPaused {
		fmt.Fprintf(b, "\nIt wants to go on at %s.\n", stamp(r.wakeAt))
	}
	if len(r.flight) > 0 {
		b.WriteString("\nIn flight at the end of the log:\n\n")
		for _, p := range r.flight {
			fmt.Fprintf(b, "- %s\n", p.markdown())
		}
	}
	b.WriteString("\n")
}

func (r *Report) answer(b *strings.Builder) {
	switch {
	case r.Answer == "":
		return
	case r.Landing:
		b.WriteString("## Landing answer\n\nGiven without tools when the limit was met; it is what was known then, not a success.\n\n")
	case r.Status == pawl.StatusSuccess:
		b.WriteString("## Answer\n\n")
	default:
		b.WriteString("## Latest answer\n\nThe run did not end with it.\n\n")
	}
	fmt.Fprintf(b, "%s\n", fence(r.long(r.Answer)))
	if len(r.Citations) == 0 {
		return
	}
	b.WriteString("It cites:\n\n")
	for i, source := range r.Citations {
		fmt.Fprintf(b, "%d. %s\n", i+1, span(shorten(oneLine(source.String()), 300)))
	}
	b.WriteString("\n")
}

// long returns a text of several lines, truncated if it is too long.
func (r *Report) long(text string) string {
	text = clean(text)
	if r.opt.Full {
		return text
	}
	short, _ := display.Cut(text, mostAnswer)
	return short
}

func (r *Report) waits(b *strings.Builder) {
	if len(r.Pending) == 0 {
		return
	}
	b.WriteString("## What it waits for\n\n")
	for _, p := range r.Pending {
		line := phrasef("%s %s", p.Kind, name(p.Call+" "+p.Tool))
		if p.Tool == "" {
			line = phrasef("%s %s", p.Kind, name(p.Call))
		} else if p.Kind != "input" {
			line += Phrase(" " + data(p.Args))
		}
		if p.Reason != "" {
			line += Phrase(": " + said(p.Reason))
		}
		if p.AnsweredAt != nil {
			line += phrasef(" (answered %s by %s, not yet read)", stamp(*p.AnsweredAt), said(p.AnsweredBy))
		} else if p.ExpiresAt != nil {
			left := p.ExpiresAt.Sub(r.now)
			if left > 0 {
				line += phrasef(", until %s (%s left)", stamp(*p.ExpiresAt), display.Lasting(left))
			} else {
				line += phrasef(", expired %s", stamp(*p.ExpiresAt))
			}
		}
		fmt.Fprintf(b, "- %s\n", line.markdown())
	}
	if waited := r.now.Sub(r.updated); waited > 0 {
		fmt.Fprintf(b, "\nIt has been waiting for %s.\n", display.Lasting(waited))
	}
	b.WriteString("\n")
}

func (r *Report) next(b *strings.Builder) {
	b.WriteString("## What to do next\n\n")
	if r.Status == pawl.StatusSuccess && (len(r.Next) == 0 || r.Action != r.Next[0].Command) {
		b.WriteString("Nothing: the run is done.\n\n")
	}
	for _, a := range r.Next {
		fmt.Fprintf(b, "- %s %s\n", span(a.Command), a.Why.markdown())
	}
	b.WriteString("\n")
}
