package project

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// givesUp ends a run whose model has answered twice in a row without an action between,
// although the goal is not met. After the first answer the machine has listed what still
// fails; asking again would only use up the limits. A run that is resumed begins to count again.
type givesUp struct{}

const mostAnswers = 2

// String returns "gives_up(2)".
func (givesUp) String() string { return fmt.Sprintf("gives_up(%d)", mostAnswers) }

// Review lets a model that gave up make no further turn.
func (givesUp) Review(s *pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	judged, _ := s.Judged()
	if !ok || think.Purpose != pawl.PurposeTurn || judged.Judgement != pawl.JudgedRefuted {
		return step
	}
	answers := 0
	for t := range s.Turns() {
		if answers++; !t.Answer || t.Iteration <= s.ResetIterations() {
			answers = 0
		}
	}
	if answers < mostAnswers {
		return step
	}
	return pawl.Finish{Verdict: pawl.Verdict{
		Holds: true, Status: pawl.StatusNoProgress, Condition: "gives_up", Leaf: "gives_up",
		Detail: "it gave up: " + strings.TrimSpace(s.LastText()),
	}}
}
