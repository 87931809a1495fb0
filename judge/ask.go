package judge

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

const (
	// mostVerdict is the most tokens a judge may spend on its answer: some
	// thinking and a short JSON document.
	mostVerdict = 2048
	// leastVerdict is the fewest tokens it needs. A truncated answer is
	// useless.
	leastVerdict = 128
	// patience is the longest a run waits for a judge whose provider is busy.
	patience = time.Minute
)

// rules is the recorded author of a judgement made without a model.
const rules = "rules"

// An auxiliary is a model to ask for a judgement, and the purpose of asking.
type auxiliary struct {
	purpose pawl.Purpose
	model   pawl.Model // nil: the agent's own
}

// name returns the name the model gives itself; empty: the agent's own model.
func (a auxiliary) name() string {
	switch m := a.model.(type) {
	case nil:
		return ""
	case pawl.Describer:
		return m.Describe().Name
	}
	return "func" // the machine's name for models without one
}

// models returns the models that the machine declares for the policy.
func (a auxiliary) models() []pawl.Model {
	if a.model == nil {
		return nil
	}
	return []pawl.Model{a.model}
}

// by returns the name recorded as the author of the judgement.
func (a auxiliary) by() string {
	if name := a.name(); name != "" {
		return name
	}
	return "the agent's model"
}

// An opinion is the outcome of asking a judge.
type opinion struct {
	text string
	none string // why there is no opinion; empty: text holds the judge's answer
}

// ask returns the step that asks the model. Once the model has answered, or
// cannot be asked, the step is nil and the opinion says what happened. A reply
// answers the question if it came after the entry since. The machine shows a
// policy its Think again as clamped to the run's remaining limits; only then
// can ask see whether the run can pay for it.
func (a auxiliary) ask(s *pawl.State, step pawl.Step, since uint64, view func() pawl.View) (pawl.Step, opinion) {
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

// wanted reports whether step is the question itself.
func (a auxiliary) wanted(step pawl.Step) bool {
	t, ok := step.(pawl.Think)
	return ok && t.Purpose == a.purpose
}

// alone refuses a second policy of the same type: they would read each other's
// replies.
func alone[T pawl.Policy](a pawl.Agent, kind string) error {
	n := 0
	for _, p := range a.Policies {
		if _, same := p.(T); same {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("policies: there are %d of %s; one is enough", n, kind)
	}
	return nil
}
