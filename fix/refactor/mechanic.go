package refactor

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

// Mechanic returns a model that needs no key: a rule-based program that refactors by the rules of the
// goal, which is one of [Kinds], and understands nothing else. A reply depends only on the request.
func Mechanic() pawl.Model {
	// They suit few turns, one of which runs the tests many times.
	return project.Rules{Reply: reply, Most: pawl.Limits{Iterations: 20, Tokens: 1_000_000_000, Time: 2 * time.Hour}}
}

func isMechanic(m pawl.Model) bool { _, is := m.(project.Rules); return is }

// mechanical says why a goal is beyond the mechanic.
func mechanical(goal string, golang bool) error {
	switch {
	case !golang:
		return errors.New("the mechanic refactors Go code only; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a model with --model")
	case KindOf(goal) == "":
		return fmt.Errorf("the mechanic knows the goals %s, and no other; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a model with --model", strings.Join(Kinds(), ", "))
	}
	return nil
}

// mostAgain is how often the mechanic begins again after a crash or an error.
const mostAgain = 3

func reply(r pawl.Request) pawl.Reply {
	if r.Purpose != pawl.PurposeTurn && r.Purpose != "" {
		return pawl.Say("The mechanic is a rule-based program, which refactors by rules and does nothing else.")
	}
	names := map[string]string{} // of the tools called, by call
	var done *byRulesResult
	why, failed, finished := "", 0, false
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Call:
				names[p.ID] = p.Tool
			case pawl.ToolResult:
				switch names[p.Call] {
				case toolMechanical:
					var now byRulesResult
					if p.Failed || json.Unmarshal([]byte(p.Text()), &now) != nil {
						why = p.Text()
						failed++
						continue
					}
					done, finished = &now, false
				case toolFinished:
					finished = true
				}
			}
		}
	}
	switch {
	case done == nil && failed >= mostAgain:
		return pawl.Say("This is the mechanic, a rule-based program. It cannot refactor here: " + why)
	case done == nil:
		return pawl.Do(pawl.Call{Tool: toolMechanical, Args: json.RawMessage(`{}`)})
	case len(done.Changed) == 0 || finished:
		return pawl.Say("This is the mechanic, a rule-based program. " + done.says())
	}
	return pawl.Do(pawl.Call{Tool: toolFinished, Args: json.RawMessage(`{}`)})
}
