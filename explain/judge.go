package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// The purposes and names of the judging policies in the log.
const (
	judgeReflexion = "judge.reflexion"
	judgeGrounding = "judge.grounding"
	judgeCausal    = "judge.causal"
	judgeSteer     = "judge.steer"
)

// whyJudge returns the purpose of a judge's call; empty: it is not one.
func whyJudge(p pawl.Purpose) Phrase {
	switch p {
	case pawl.PurposeJudge:
		return "a policy or the loop wanted a judgement"
	case judgeReflexion:
		return "to judge how the run is going"
	case judgeGrounding:
		return "to hold the answer against what the tools said"
	case judgeSteer:
		return "to judge the calls before they run"
	}
	if strings.HasPrefix(string(p), string(pawl.PurposeJudge)+".") {
		return "a policy wanted a judgement"
	}
	return ""
}

func (f *fold) reflected(e pawl.Reflected) (subject, why Phrase) {
	f.because("a judgement came in")
	why = phrasef("confidence %.2f%s: %s", e.Confidence, by(e.By), said(e.Text))
	if e.Text == "" {
		why = phrasef("confidence %.2f%s", e.Confidence, by(e.By))
	}
	return "a judgement", why + hinted(e.Hint)
}

func (f *fold) grounded(e pawl.Grounded) (subject, why Phrase) {
	found := by(e.By)
	if found != "" {
		found = ", found" + found
	}
	switch {
	case !e.OK:
		f.because("the answer was rejected")
		return "the answer is not grounded", Phrase("unsupported: "+names(e.Claims, 5)+found) + hinted(e.Hint)
	case len(e.Claims) > 0:
		if e.Hint != "" {
			f.because("the answer had unsupported values")
		}
		return "the answer has unsupported values", Phrase("in no tool result, input or prompt: "+names(e.Claims, 5)+found) + hinted(e.Hint)
	}
	return "the answer is grounded", Phrase("nothing unsupported was found" + by(e.By))
}

// hinted describes the hint of a judgement.
func hinted(hint string) Phrase {
	if hint == "" {
		return ""
	}
	return Phrase("; the model is told: " + said(hint))
}

// ruled explains the note of a judging policy, and reports whether it is one.
// Only a verdict on a call adds anything to its entry.
func ruled(e pawl.Noted) (subject, why Phrase, is bool) {
	switch e.By {
	case judgeReflexion, judgeGrounding, judgeCausal:
		return Phrase("a note " + name(e.Name)), "", true
	case judgeSteer:
		var r struct{ Verdict, Reason string }
		if json.Unmarshal(e.Value, &r) != nil || r.Verdict == "" {
			return "", "", false
		}
		return Phrase("a verdict on " + name(e.Name)), phrasef("%s: %s: %s", name(e.Name), name(r.Verdict), said(r.Reason)), true
	}
	return "", "", false
}

// causes is a graph of causes, as far as a page shows it.
type causes struct {
	Nodes []struct {
		ID   string
		Tool string
	}
	Edges []struct {
		From, To string
		Values   []string
	}
	Cycles         []struct{ Calls []string }
	Contradictions []struct{ Tool, First, Then, Was, Is string }
}

// readCauses reads a graph; false: it cannot be shown.
func readCauses(raw json.RawMessage) (c causes, ok bool) {
	return c, json.Unmarshal(raw, &c) == nil && c.Nodes != nil
}

func (f *fold) caused(e pawl.CausesFound) (subject, why Phrase) {
	c, ok := readCauses(e.Graph)
	if !ok {
		return "causes", Phrase("what led to what: " + data(e.Graph))
	}
	f.graph = e.Graph
	what := []string{"results were used " + display.Count(len(c.Edges), "time")}
	if n := len(c.Cycles); n > 0 {
		what = append(what, display.Count(n, "circle"))
	}
	if n := len(c.Contradictions); n > 0 {
		what = append(what, display.Count(n, "contradiction"))
	}
	return "what led to what", Phrase(strings.Join(what, ", "))
}

// The most edges a page shows.
const mostCauses = 20

// led writes the graph of causes.
func (r *Report) led(b *strings.Builder) {
	c, ok := readCauses(r.Causes)
	if r.Causes == nil || !ok {
		return
	}
	b.WriteString("## What led to what\n\n")
	if len(c.Edges)+len(c.Cycles)+len(c.Contradictions) == 0 {
		b.WriteString("No result was used in a later call or in the answer, as far as its values show.\n\n")
		return
	}
	tools := map[string]string{}
	for _, n := range c.Nodes {
		tools[n.ID] = n.Tool
	}
	label := func(id string) string {
		if tool := tools[id]; tool != "" {
			return name(id + " " + tool)
		}
		return "the answer"
	}
	lines := 0
	line := func(p Phrase) {
		if lines++; lines <= mostCauses || r.opt.Full {
			fmt.Fprintf(b, "- %s\n", p.markdown())
		}
	}
	for _, k := range c.Contradictions {
		line(phrasef("%s and %s contradict each other, and nothing was changed between: %s, then %s", label(k.First), label(k.Then), said(k.Was), said(k.Is)))
	}
	for _, k := range c.Cycles {
		steps := make([]string, len(k.Calls))
		for i, id := range k.Calls {
			steps[i] = label(id)
		}
		line(Phrase("in a circle: " + strings.Join(steps, " → ")))
	}
	for _, k := range c.Edges {
		line(phrasef("%s → %s: %s", label(k.From), label(k.To), names(k.Values, 5)))
	}
	if lines > mostCauses && !r.opt.Full {
		fmt.Fprintf(b, "- and %d more, in %s\n", lines-mostCauses, span("pawl explain "+shell(r.Run)+" --json"))
	}
	b.WriteString("\n")
}
