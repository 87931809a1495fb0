package judge

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// A did is a call of a run with its result. An error begins with "error ".
type did struct {
	tool, args, result string
	effect             pawl.Effect
}

// A tale tells a run, entry by entry.
type tale struct {
	t     *testing.T
	state pawl.State
	calls int
	turn  int
}

func begin(t *testing.T, input string, tools ...pawl.ToolInfo) *tale {
	s := &tale{t: t}
	s.tell(pawl.RunStarted{Declaration: pawl.Declaration{Agent: "a", ModelInfo: pawl.ModelInfo{Name: "m"}, Loop: "react",
		Strategy: pawl.StrategyNative, Tools: tools}, Input: input})
	return s
}

func (s *tale) tell(events ...pawl.Event) {
	for _, e := range events {
		entry := pawl.Entry{Run: "r", Seq: s.state.Seq() + 1, At: s.state.Seq(), Iteration: s.turn, Event: e,
			Time: time.Date(2026, 11, 21, 12, 0, int(s.state.Seq()), 0, time.UTC)}
		s.state.Fold(entry)
	}
}

// act makes a turn of calls.
func (s *tale) act(calls ...did) *tale {
	s.turn++
	var parts []pawl.Part
	for i, c := range calls {
		parts = append(parts, pawl.Call{ID: fmt.Sprintf("c_%d", s.calls+i+1), Tool: c.tool, Args: json.RawMessage(c.args)})
	}
	s.tell(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts, Stop: pawl.StopCalls}})
	for _, c := range calls {
		s.calls++
		id, effect := fmt.Sprintf("c_%d", s.calls), c.effect
		if effect == 0 {
			effect = pawl.Read
		}
		s.tell(pawl.ToolStarted{Call: id, Tool: c.tool, Args: json.RawMessage(c.args), Effect: effect, Attempt: 1})
		done := pawl.ToolFinished{Call: id, Tool: c.tool, Status: pawl.ToolOK, Result: json.RawMessage(c.result)}
		if len(c.result) > 6 && c.result[:6] == "error " {
			done.Status, done.Result, done.Error = pawl.ToolFailed, nil, c.result[6:]
		} else if !json.Valid(done.Result) {
			done.Result, _ = json.Marshal(c.result)
		}
		s.tell(done)
	}
	return s
}

// say makes a turn of text.
func (s *tale) say(text string) *tale {
	s.turn++
	s.tell(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: text}}, Stop: pawl.StopEnd}})
	return s
}
