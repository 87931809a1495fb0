package window

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// A talking run is folded and shown entry by entry.
type talking struct {
	*testing.T
	state *pawl.State
	talk  *Transcript
	turn  int
}

func begin(t *testing.T, start pawl.RunStarted) *talking {
	r := &talking{T: t, state: new(pawl.State), talk: NewTranscript(pawl.StrategyNative)}
	r.take(start)
	return r
}

func (r *talking) take(e pawl.Event) {
	entry := pawl.Entry{Run: "r", Seq: r.state.Seq() + 1, Time: time.Unix(int64(r.state.Seq()), 0), Iteration: r.turn, Event: e}
	r.state.Fold(entry)
	r.talk.Add(entry, r.state)
}

// turns makes turns that think and call a tool.
func (r *talking) turns(n int, view pawl.View) {
	for range n {
		r.turn++
		id := fmt.Sprint("c_", r.turn)
		r.take(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1, View: view})
		r.take(pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Stop: pawl.StopCalls, Parts: []pawl.Part{
			pawl.Thinking{Text: fmt.Sprint("thought ", r.turn), Opaque: json.RawMessage(`"signed"`)}, pawl.Call{ID: id, Tool: "look", Args: json.RawMessage(`{}`)}}}})
		r.take(pawl.ToolStarted{Call: id, Tool: "look", Effect: pawl.Read, Attempt: 1})
		r.take(pawl.ToolFinished{Call: id, Tool: "look", Status: pawl.ToolOK, Result: wire.Quote(strings.Repeat("r", 900))})
	}
}

// next ends the run and begins another one of its thread.
func (r *talking) next(start pawl.RunStarted) {
	r.talk.Next(r.state, 1, nil)
	start.Continues = r.talk.Continue(r.state)
	r.state = r.state.Internals().Next()
	r.take(start)
}

// asked returns the next request, and which turns' thinking in it is marked as moved.
func (r *talking) asked(called pawl.ModelCalled) (request pawl.Request, moved []string) {
	called.Attempt = 1
	r.take(called)
	request, _ = r.state.Internals().Request(called, r.turn, r.talk)
	for _, m := range request.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(pawl.Thinking); ok && t.Moved {
				moved = append(moved, strings.TrimPrefix(t.Text, "thought "))
			}
			if t, ok := p.(pawl.Thinking); ok && string(t.Opaque) != `"signed"` {
				r.Errorf("%s lost what the provider wants back", t.Text)
			}
		}
	}
	return request, moved
}

// TestMoved: thinking is marked as moved if and only if the prompt, the tools or the messages
// before it are others than when the model made it.
func TestMoved(t *testing.T) {
	look, more := pawl.ToolInfo{Name: "look"}, pawl.ToolInfo{Name: "more", Deferred: true}
	agent := pawl.Declaration{Agent: "a", Prompt: "Look.", Strategy: pawl.StrategyNative, Tools: []pawl.ToolInfo{look, more}}
	other, listed := agent, agent
	other.Prompt, listed.Strategy = "Look twice.", pawl.StrategyJSON
	turn := pawl.ModelCalled{Purpose: pawl.PurposeTurn}
	land := pawl.ModelCalled{Purpose: pawl.PurposeFinal, View: pawl.View{Prompt: "Answer.", Bare: true}}
	found := pawl.Noted{By: "__tools__", Name: "found", Value: json.RawMessage(`["more"]`)}
	for name, c := range map[string]struct {
		agent  pawl.Declaration
		before func(*talking)
		then   pawl.ModelCalled
		moved  string
	}{
		"a turn like those before":    {agent, func(r *talking) {}, turn, ""},
		"a last answer":               {agent, func(r *talking) {}, land, ""},
		"a last answer, tools listed": {listed, func(r *talking) {}, land, "1 2 3"},
		"another prompt for once":     {agent, func(r *talking) {}, pawl.ModelCalled{Purpose: "vote", View: pawl.View{System: "Vote."}}, "1 2 3"},
		"the prompt of all turns":     {agent, func(r *talking) { r.turns(1, pawl.View{System: "S"}); r.turns(1, pawl.View{System: "S"}) }, pawl.ModelCalled{Purpose: pawl.PurposeTurn, View: pawl.View{System: "S"}}, "1 2 3"},
		"back to the agent's prompt":  {agent, func(r *talking) { r.turns(1, pawl.View{System: "S"}) }, turn, "1 2 3 4"},
		"a tool was found":            {agent, func(r *talking) { r.take(found); r.turns(1, pawl.View{}) }, turn, "1 2 3"},
		"a result is left out": {agent, func(r *talking) {
			r.take(pawl.ContextCompacted{Masked: []string{"c_2"}, Why: "price"})
			r.turns(1, pawl.View{})
		}, turn, "3"},
		"two are left out": {agent, func(r *talking) { r.take(pawl.ContextCompacted{Masked: []string{"c_2", "c_1"}, Why: "price"}) }, turn, "2 3"},
		"a summary": {agent, func(r *talking) {
			r.take(pawl.ContextCompacted{Summary: "It looked.", Kept: 2, Why: "price"})
			r.turns(1, pawl.View{})
		}, turn, "2 3"},
		"another model and back": {agent, func(r *talking) {
			r.take(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1, Fallback: 1})
			r.take(pawl.ModelFailed{Purpose: pawl.PurposeTurn, Class: pawl.ClassQuota})
		}, turn, ""},
		"the next run of the thread": {agent, func(r *talking) { r.next(pawl.RunStarted{Declaration: agent, Input: "go on"}) }, turn, ""},
		"a run of another prompt":    {agent, func(r *talking) { r.next(pawl.RunStarted{Declaration: other, Input: "go on"}) }, turn, "1 2 3"},
		"resumed with another one":   {agent, func(r *talking) { r.take(pawl.RunResumed{Changed: &other}); r.turns(1, pawl.View{}) }, turn, "1 2 3"},
		"resumed with its own":       {agent, func(r *talking) { r.take(pawl.RunResumed{Changed: &agent}) }, turn, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, pawl.RunStarted{Declaration: c.agent, Input: "go"})
			r.turns(3, pawl.View{})
			before, _ := r.talk.Messages(r.state)
			c.before(r)
			if _, moved := r.asked(c.then); strings.Join(moved, " ") != c.moved {
				t.Errorf("moved is the thinking of turns %q, want %q", strings.Join(moved, " "), c.moved)
			}
			for _, m := range before {
				for _, p := range m.Parts {
					if t, ok := p.(pawl.Thinking); ok && t.Moved {
						r.Error("messages of an earlier request were changed")
					}
				}
			}
		})
	}
}

// TestNoCalls: a request whose reply may call nothing has the tools of the turns before it, unless
// nothing in it needs them.
func TestNoCalls(t *testing.T) {
	agent := pawl.Declaration{Agent: "a", Strategy: pawl.StrategyNative, Tools: []pawl.ToolInfo{{Name: "look"}}}
	single := agent
	single.Loop = pawl.SingleCall{}.Name()
	for name, c := range map[string]struct {
		agent pawl.Declaration
		view  pawl.View
		tools int
		none  bool
	}{
		"a turn":                {agent, pawl.View{}, 1, false},
		"a last answer":         {agent, pawl.View{Bare: true}, 1, true},
		"without conversation":  {agent, pawl.View{Bare: true, Alone: true}, 0, false},
		"a step of a workflow":  {agent, pawl.View{Bare: true, Step: "s"}, 0, false},
		"a single call":         {single, pawl.View{Bare: true}, 0, false},
		"an agent without tool": {pawl.Declaration{Agent: "a", Strategy: pawl.StrategyNative}, pawl.View{Bare: true}, 0, false},
	} {
		r := begin(t, pawl.RunStarted{Declaration: c.agent, Input: "go"})
		got, _ := r.asked(pawl.ModelCalled{Purpose: "any", View: c.view})
		if len(got.Tools) != c.tools || (got.ToolChoice == "none") != c.none || c.tools > 0 && !reflect.DeepEqual(got.Tools, c.agent.Tools) {
			t.Errorf("%s: %d tools, choice %q", name, len(got.Tools), got.ToolChoice)
		}
	}
}
