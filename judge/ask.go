package judge

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

const (
	// mostVerdict is what a judge may spend on its answer, in tokens: room for
	// some thinking before a short JSON document.
	mostVerdict = 2048
	// leastVerdict is what it needs at least. What is cut off says nothing.
	leastVerdict = 128
	// patience is the longest a run sleeps for a judge whose provider is busy.
	patience = time.Minute
)

// rules is who judged when no model did.
const rules = "rules"

// An adviser is who is asked for a judgement, and what for.
type adviser struct {
	purpose pawl.Purpose
	model   pawl.Model // nil: the agent's own
}

// name is the model as it describes itself; empty: it is the agent's own.
func (a adviser) name() string {
	switch m := a.model.(type) {
	case nil:
		return ""
	case pawl.Describer:
		return m.Describe().Name
	}
	return "func" // as the machine declares models that do not say what they are
}

// models are those that the machine is to declare for the policy.
func (a adviser) models() []pawl.Model {
	if a.model == nil {
		return nil
	}
	return []pawl.Model{a.model}
}

// by is the model as the one who judged.
func (a adviser) by() string {
	if name := a.name(); name != "" {
		return name
	}
	return "the agent's model"
}

// An opinion is what came of asking.
type opinion struct {
	text string
	none string // why there is none; empty: text is what the judge said
}

// ask returns the step by which a model is asked, or nil and what came of it.
// The judge's reply is about the matter at hand if it came after the entry
// since. A policy that wants a Think is shown it once more as it would be sent,
// clamped to what the run has left; that is when it is seen what it can pay for.
func (a adviser) ask(s *pawl.State, step pawl.Step, since uint64, view func() pawl.View) (pawl.Step, opinion) {
	if s.RepliedAt(a.purpose) > since {
		r, _ := s.Replied(a.purpose)
		switch r.Stop {
		case pawl.StopRefusal:
			return nil, opinion{none: "it refused to judge"}
		case pawl.StopLength:
			return nil, opinion{none: "its answer was cut off"}
		}
		return nil, opinion{text: r.Text()}
	}
	f, final := s.Missed(a.purpose)
	left := s.Limits().Time - s.Elapsed()
	t, put := step.(pawl.Think)
	put = put && t.Purpose == a.purpose
	switch {
	case final, f.RetryAt.Sub(s.Time()) > patience:
		return nil, opinion{none: fmt.Sprintf("it failed (%v: %s)", f.Class, f.Message)}
	case left <= 0, put && t.NotBefore.Sub(s.Time()) >= left:
		return nil, opinion{none: "the run has no time left for it"}
	case !put:
		return pawl.Think{Purpose: a.purpose, Model: a.name(), MaxTokens: mostVerdict, View: view()}, opinion{}
	case t.MaxTokens < leastVerdict:
		return nil, opinion{none: "what is left of the run's tokens or dollars does not pay for it"}
	}
	return step, opinion{}
}

// wanted reports whether step is the asking itself.
func (a adviser) wanted(step pawl.Step) bool {
	t, ok := step.(pawl.Think)
	return ok && t.Purpose == a.purpose
}

// alone refuses a second policy of a kind: they would read each other's replies.
func alone(a pawl.Agent, kind string, same func(pawl.Policy) bool) error {
	n := 0
	for _, p := range a.Policies {
		if p != nil && same(p) {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("policies: there are %d of %s; one is enough", n, kind)
	}
	return nil
}
