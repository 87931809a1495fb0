package judge

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// How much of a run a judge is shown: at most about 5,000 tokens, however long
// the run is. Older turns were judged before.
const (
	briefTurns   = 6
	briefCalls   = 12
	briefTask    = 4000 // bytes
	briefText    = 600
	briefArgs    = 600
	briefResult  = 1200
	briefPersons = 5
)

// A brief describes a run to a judge as one JSON document. Everything in it is
// quoted, so text from a tool or a person cannot end its own string.
type brief struct {
	Prompt   string       `json:"instructions,omitempty"` // of the agent
	Task     string       `json:"task"`
	Said     []string     `json:"said_since,omitempty"` // by people
	Goal     *briefGoal   `json:"goal,omitempty"`
	Turns    []briefTurn  `json:"turns,omitempty"`
	Before   int          `json:"turns_before_these,omitempty"`
	Calls    []briefCall  `json:"calls,omitempty"`
	Claims   []briefClaim `json:"claims,omitempty"`
	Missing  []string     `json:"unsupported_values,omitempty"`
	Observed string       `json:"observed,omitempty"` // last
	Found    []briefCall  `json:"results,omitempty"`
	Replaced []briefCall  `json:"replaced,omitempty"`
}

type briefGoal struct {
	Success string   `json:"success"`
	Metric  *float64 `json:"metric,omitempty"`
	Open    []string `json:"still_open,omitempty"`
}

type briefTurn struct {
	Turn    int         `json:"turn"`
	Thought string      `json:"thought,omitempty"`
	Calls   []briefCall `json:"calls,omitempty"`
}

type briefCall struct {
	Run    int    `json:"runs_ago,omitempty"`
	Turn   int    `json:"turn,omitempty"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Effect string `json:"effect,omitempty"`
	About  string `json:"about,omitempty"` // the tool's description
	Args   string `json:"args"`
	Status string `json:"status,omitempty"`
	Result string `json:"result,omitempty"`
}

type briefClaim struct {
	N    int    `json:"n"`
	Text string `json:"claim"`
}

// briefly returns a brief of the run's task and state.
func briefly(s *pawl.State) brief {
	b := brief{Task: short(s.Input(), briefTask)}
	for text := range s.UserTexts() {
		b.Said = append(b.Said, short(text, briefText))
	}
	if len(b.Said) > 0 {
		b.Said = b.Said[1:] // the task
	}
	b.Said = b.Said[max(0, len(b.Said)-briefPersons):]
	if success := s.Declaration().Goal; success != "" {
		b.Goal = &briefGoal{Success: success, Open: s.StillOpen()}
		b.Goal.Open = b.Goal.Open[:min(len(b.Goal.Open), 20)]
		if v, ok := s.Metric(); ok {
			b.Goal.Metric = &v
		}
	}
	return b
}

// lately adds the latest turns with the results of their calls.
func (b *brief) lately(s *pawl.State, turns int) {
	calls := map[int][]briefCall{}
	n := 0
	for c := range s.Recent() {
		if c.Phase != pawl.PhaseAnswered {
			continue // shown separately, as the turn to be judged
		}
		if n++; n > briefCalls || c.Iteration <= s.Iteration()-turns {
			break
		}
		calls[c.Iteration] = append([]briefCall{called(c)}, calls[c.Iteration]...)
	}
	for t := range s.Turns() {
		if t.Iteration > s.Iteration()-turns {
			b.Turns = append(b.Turns, briefTurn{t.Iteration, short(t.Thought, briefText), calls[t.Iteration]})
		}
	}
	if len(b.Turns) > 0 {
		b.Before = b.Turns[0].Turn - 1
	}
}

func called(c pawl.CallState) briefCall {
	b := briefCall{Call: c.ID, Tool: c.Tool, Args: short(string(ran(c)), briefArgs)}
	b.Status, b.Result = "error", short(c.Error, briefResult)
	if c.OK() {
		b.Status, b.Result = "ok", short(wire.Plain(c.Result), briefResult)
	}
	return b
}

// ran returns the arguments a call ran with, including an approver's edits.
func ran(c pawl.CallState) json.RawMessage {
	if c.Edited != nil {
		return c.Edited
	}
	return c.Args
}

// String returns the document. It does not escape angle brackets: no browser
// reads it.
func (b brief) String() string {
	out, _ := wire.Marshal(b) // strings and finite numbers always encode
	return string(out)
}
