// Package refine is a loop written outside of Pawl: the model answers, judges its answer, and
// answers again until the answer is accepted.
package refine

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// Loop makes at most Drafts drafts. Good says what a good answer is. The run succeeds with the
// first draft that the judge accepts, and ends as no_progress with the last one otherwise.
type Loop struct {
	Drafts int // at least one
	Good   string
}

const by = "refine"

// Name returns "refine(3:True, and short.)" for three drafts and this judgement.
func (l Loop) Name() string { return fmt.Sprintf("%s(%d:%s)", by, l.Drafts, l.Good) }

// Check refuses a loop without drafts or without a judgement.
func (l Loop) Check(pawl.Agent) error {
	if l.Drafts < 1 || l.Good == "" {
		return fmt.Errorf("%s: it takes one draft, and what a good answer is", by)
	}
	return nil
}

// Next finds the first reply that is missing in the log, and asks for it.
func (l Loop) Next(s *pawl.State) pawl.Step {
	for n := 1; ; n++ {
		draft, ok := s.Replied(purpose("draft", n))
		if !ok {
			return ask("draft", n, l.improve(s, n))
		}
		judgement, ok := s.Replied(purpose("judge", n))
		switch {
		case !ok:
			return ask("judge", n, fmt.Sprintf("%s\n\nThe answer is:\n\n%s\n\nIs it good? Answer YES, or what is wrong with it.", l.Good, draft.Text()))
		case strings.HasPrefix(strings.ToUpper(judgement.Text()), "YES"):
			return end(pawl.StatusSuccess, fmt.Sprintf("draft %d is accepted", n), draft.Text())
		case n == l.Drafts:
			return end(pawl.StatusNoProgress, fmt.Sprintf("no draft of %d is accepted: %s", n, judgement.Text()), draft.Text())
		}
	}
}

// improve returns what the model is asked for the n-th draft.
func (l Loop) improve(s *pawl.State, n int) string {
	if n == 1 {
		return "Answer."
	}
	last, _ := s.Replied(purpose("draft", n-1))
	wrong, _ := s.Replied(purpose("judge", n-1))
	return fmt.Sprintf("Your last answer was:\n\n%s\n\nIt was not accepted:\n\n%s\n\nAnswer again.", last.Text(), wrong.Text())
}

func purpose(what string, n int) pawl.Purpose { return pawl.Purpose(fmt.Sprintf("%s-%d", what, n)) }

func ask(what string, n int, prompt string) pawl.Step {
	return pawl.Think{Purpose: purpose(what, n), View: pawl.View{Prompt: prompt, Bare: true}}
}

func end(status pawl.Status, detail, answer string) pawl.Step {
	return pawl.Finish{Answer: answer, Verdict: pawl.Verdict{Holds: true, Status: status, Condition: by, Leaf: by, Detail: detail}}
}
