package explain

import (
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Result is a run's result with the additional parts that its agent requests.
type Result struct {
	pawl.Result

	// Context has the answer under @KEY, KEY being the agent's ResultKey, once
	// the run has succeeded or its model has given an answer at a limit. Nil:
	// the agent has no such key.
	Context map[string]Answer `json:"context,omitzero"`
	// Trace is the reasoning of the run in order: a Thought for every call that
	// its model made, including those of rejected replies, and for every reply
	// without calls. Apparent secrets are removed, in action inputs also by key
	// name, and long observations are truncated in the middle. Nil: the agent
	// does not request it.
	Trace []Thought `json:"trace,omitzero"`
}

// An Answer is a model's answer by __complete__. Its confidence is from 0 to 1,
// and 1 if the model gave none.
type Answer struct {
	Answer     json.RawMessage `json:"answer"`
	Confidence float64         `json:"confidence"`
	Summary    string          `json:"summary"`
}

// A Thought is one action of a model with its result.
type Thought struct {
	Iteration   int             `json:"iteration"` // from 1
	Timestamp   time.Time       `json:"timestamp"` // of the reply
	Thought     string          `json:"thought"`
	Action      string          `json:"action"`       // empty: the reply made no call
	ActionInput json.RawMessage `json:"action_input"` // as executed; null without an action
	Observation json.RawMessage `json:"observation"`  // the result or the error; null: none yet
	Success     bool            `json:"success"`
}

// mostSeen is the most bytes of an observation in a trace.
const mostSeen = 4 << 10

// ResultOf folds a log into the run's result with the additional parts that its
// agent requests. It costs O(entries); errors are those of [Of].
func ResultOf(entries iter.Seq2[pawl.Entry, error]) (Result, error) {
	r, err := Of(entries, nil)
	return r.Result, err
}

// tracing collects the replies of a run.
type tracing struct {
	on      bool
	replies []replied
}

// replied is one reply, and why it was rejected.
type replied struct {
	iteration int
	time      time.Time
	thought   string
	calls     []pawl.Call
	refused   string
}

func (t *tracing) add(e pawl.Entry, s *pawl.State) {
	switch event := e.Event.(type) {
	case pawl.RunStarted:
		t.on = t.on || event.Declaration.Trace
	case pawl.ModelReplied:
		if !t.on || event.Purpose != pawl.PurposeTurn {
			return
		}
		r := replied{iteration: e.Iteration, time: e.Time, refused: event.Malformed, thought: event.Reply.Text()}
		var thinking strings.Builder
		for _, p := range event.Reply.Parts {
			switch p := p.(type) {
			case pawl.Call:
				r.calls = append(r.calls, p)
			case pawl.Thinking:
				thinking.WriteString(p.Text)
			}
		}
		if r.thought == "" {
			r.thought = thinking.String()
		} else if s.Declaration().Strategy == pawl.StrategyJSON && len(r.calls) > 0 {
			r.thought = wire.Thought(r.thought)
		}
		t.replies = append(t.replies, r)
	case pawl.PlanRejected:
		if n := len(t.replies); n > 0 && t.replies[n-1].refused == "" && len(t.replies[n-1].calls) == 0 {
			t.replies[n-1].refused = strings.Join(event.Reasons, "; ")
		}
	}
}

// thoughts returns the replies with the results of their calls.
func (t *tracing) thoughts(s *pawl.State) []Thought {
	if !t.on {
		return nil
	}
	all := make([]Thought, 0, len(t.replies))
	for _, r := range t.replies {
		one := Thought{Iteration: r.iteration, Timestamp: r.time, Thought: redact.Text(r.thought), Success: r.refused == ""}
		if r.refused != "" {
			one.Observation = shown(nil, r.refused)
		}
		if len(r.calls) == 0 {
			all = append(all, one)
		}
		for _, c := range r.calls {
			one.Action, one.ActionInput = c.Tool, redact.JSON(c.Args)
			one.Observation, one.Success = nil, false
			if state, ok := s.Call(c.ID); ok {
				if state.Edited != nil {
					one.ActionInput = redact.JSON(state.Edited)
				}
				if state.Phase == pawl.PhaseAnswered {
					one.Observation, one.Success = shown(state.Result, state.Error), state.OK()
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// shown returns a result, or the text instead of it, as a trace shows it.
func shown(result json.RawMessage, instead string) json.RawMessage {
	if instead != "" || result == nil {
		cut, _ := display.Cut(redact.Text(instead), mostSeen)
		text, _ := json.Marshal(cut) // a string always marshals
		return text
	}
	result = redact.JSON(result)
	if len(result) <= mostSeen {
		return result
	}
	text := string(result)
	_ = json.Unmarshal(result, &text) // a string's text, or any other value's JSON
	cut, _ := display.Cut(text, mostSeen)
	result, _ = json.Marshal(cut)
	return result
}

// answers returns the context of a result.
func answers(s *pawl.State, r pawl.Result) map[string]Answer {
	begun, _ := s.Start()
	key := begun.Declaration.ResultKey
	if key == "" {
		return nil
	}
	given, _ := json.Marshal(r.Answer) // a string always marshals
	answer := Answer{Answer: given, Confidence: 1}
	if r.Confidence != nil {
		answer.Confidence = *r.Confidence
	}
	value, _ := s.Note(completeTool, "completion")
	switch c := wire.ReadCompletion(value); {
	case c != nil && r.Answer != "" && c.Answer == r.Answer: // one that was refuted may still be in the log
		answer = Answer{Answer: c.Given, Confidence: 1, Summary: c.Summary}
		if c.Sure {
			answer.Confidence = c.Confidence
		}
	case r.Status != pawl.StatusSuccess:
		return map[string]Answer{}
	}
	return map[string]Answer{"@" + key: answer}
}
