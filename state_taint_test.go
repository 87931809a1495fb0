package pawl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// labelled is an agent with a tool of each label, and its run as it begins.
func labelled(t *testing.T, change func(*RunStarted)) *State {
	t.Helper()
	m, err := NewMachine(Agent{
		Name: "reader", Model: ModelFunc(nil), Trust: map[string]Trust{"page": Untrusted, "ours": Trusted},
		Tools: []Tool{dud{ToolInfo{Name: "look", Effect: Read}}, dud{ToolInfo{Name: "page", Effect: Read}}, dud{ToolInfo{Name: "ours", Effect: Read, Trust: Untrusted}}},
	})
	must(t, err)
	start := RunStarted{Declaration: m.Declaration(), Input: "go"}
	if change != nil {
		change(&start)
	}
	return grown(new(State), start)
}

// grown folds events into a copy of s.
func grown(s *State, events ...Event) *State {
	s = s.Clone()
	fold(s, events...)
	return s
}

func fold(s *State, events ...Event) {
	it := s.Iteration()
	for _, e := range events {
		if c, ok := e.(ModelCalled); ok && c.Purpose == PurposeTurn {
			it++
		}
		s.Fold(Entry{Run: "r", Seq: s.Seq() + 1, At: s.Seq(), Time: time.Unix(int64(s.Seq()), 0).UTC(), Iteration: it, Event: e})
	}
}

// turnOf folds a turn that calls tools into s, and what they say.
func turnOf(s *State, tools ...string) *State {
	reply := Reply{Stop: StopCalls}
	var done []Event
	n := 0
	for range s.Calls() {
		n++
	}
	for i, tool := range tools {
		id := callID(n + i + 1)
		reply.Parts = append(reply.Parts, Call{ID: id, Tool: tool, Args: json.RawMessage(`{}`)})
		done = append(done, ToolFinished{Call: id, Tool: tool, Status: ToolOK, Result: wire.Quote(fmt.Sprint("of ", id))})
	}
	fold(s, ModelCalled{Purpose: PurposeTurn, Attempt: 1}, ModelReplied{Purpose: PurposeTurn, Reply: reply})
	fold(s, done...)
	return s
}

// A run is tainted from the first untrusted result on, also after the result is masked, or from
// the beginning when its input or its thread are.
func TestTainted(t *testing.T) {
	s := turnOf(labelled(t, nil), "look", "ours")
	if s.Tainted() {
		t.Error("what is trusted taints")
	}
	open := grown(s, ModelCalled{Purpose: PurposeTurn, Attempt: 1}, ModelReplied{Purpose: PurposeTurn, Reply: Reply{Stop: StopCalls, Parts: []Part{Call{ID: "c_3", Tool: "page", Args: json.RawMessage(`{}`)}}}})
	if open.Tainted() {
		t.Error("a call taints before it has a result")
	}
	if refused := grown(open, ToolRefused{Call: "c_3", Tool: "page", Why: "no"}); refused.Tainted() {
		t.Error("what the machine says taints")
	}
	for name, end := range map[string]Event{
		"result": ToolFinished{Call: "c_3", Tool: "page", Status: ToolOK, Result: wire.Quote("x")},
		"error":  ToolFinished{Call: "c_3", Tool: "page", Status: ToolFailed, Error: "404: obey"},
		"client": ClientToolReturned{Call: "c_3", Result: wire.Quote("x")},
		"doubt":  ToolSettled{Call: "c_3", Happened: true, Result: wire.Quote("x")},
		"reuse":  ToolReused{Call: "c_3", Tool: "page", Of: "c_1"},
	} {
		s := grown(open, end)
		if c, _ := s.Call("c_3"); !s.Tainted() || c.Trust != Untrusted {
			t.Errorf("%s: tainted %v, %v", name, s.Tainted(), c.Trust)
		}
		s = grown(s, ContextCompacted{Masked: []string{"c_3"}}, RunPaused{Status: StatusPaused}, RunResumed{Owner: "b", Epoch: 2}, RunForked{From: "a", Seq: 9})
		if !s.Tainted() {
			t.Errorf("%s: it is forgotten", name)
		}
		if !s.Internals().Continue(nil).Untrusted {
			t.Errorf("%s: a thread forgets it", name)
		}
	}
	for name, change := range map[string]func(*RunStarted){
		"input":  func(e *RunStarted) { e.Untrusted = true },
		"thread": func(e *RunStarted) { e.Continues = &Continues{Run: "q", Seq: 1, Untrusted: true} },
	} {
		if s := labelled(t, change); !s.Tainted() {
			t.Errorf("%s: the run begins clean", name)
		}
	}
}

// A description that is not trusted taints a run from its start.
func TestForeignDescription(t *testing.T) {
	for name, c := range map[string]struct {
		trust map[string]Trust
		want  bool
	}{
		"foreign":          {nil, true},
		"trusted by label": {map[string]Trust{"peer__add": Trusted}, false},
	} {
		a := Agent{Name: "reader", Model: ModelFunc(nil), Tools: []Tool{dud{ToolInfo{Name: "peer__add", Trust: Untrusted, Foreign: true}}}, Trust: c.trust}
		m, err := NewMachine(a)
		must(t, err)
		start := RunStarted{Declaration: m.Declaration(), Input: "go"}
		if s := grown(new(State), start); s.Tainted() != c.want {
			t.Errorf("%s: tainted %v", name, s.Tainted())
		}
		clean := Agent{Name: "reader", Model: ModelFunc(nil), Tools: []Tool{dud{ToolInfo{Name: "look"}}}}
		was, err := NewMachine(clean)
		must(t, err)
		s := grown(new(State), RunStarted{Declaration: was.Declaration(), Input: "go"}, RunResumed{Owner: "b", Epoch: 2, Changed: &start.Declaration})
		if s.Tainted() != c.want {
			t.Errorf("%s, from a resumption on: tainted %v", name, s.Tainted())
		}
	}
}

// made is a policy's own of the past: the results it was shown.
type made struct{ seen []string }

func gatheredOf(s *State) (all string, added int) {
	m := s.Gather("test", func() any { return &made{} }, func(m any, c CallState) {
		m.(*made).seen = append(m.(*made).seen, wire.Plain(c.Result))
		added++
	})
	return strings.Join(m.(*made).seen, ", "), added
}

// What is gathered is of the state that is asked, in whatever order states are
// asked, and each call is added once along a run.
func TestGather(t *testing.T) {
	s := turnOf(labelled(t, nil), "look", "page")
	want, total := "of c_1, of c_2", 0
	for n := 3; n < 60; n++ {
		all, added := gatheredOf(s)
		if total += added; all != want {
			t.Fatalf("got %s, want %s", all, want)
		}
		s = turnOf(s, "look")
		want += fmt.Sprintf(", of c_%d", n)
	}
	if total != 58 {
		t.Errorf("%d calls were added for 58", total)
	}
	if all, added := gatheredOf(s); all != want || added != 1 {
		t.Errorf("%d were added to %s", added, all)
	}
	if all, added := gatheredOf(s); all != want || added != 0 {
		t.Errorf("%d were added to %s", added, all)
	}

	// One whose begin panicked begins again; a state without a run has one, too.
	func() {
		defer func() { _ = recover() }()
		later := turnOf(s.Clone(), "look")
		later.Gather("test", func() any { return &made{} }, func(any, CallState) { panic("no") })
	}()
	if all, _ := gatheredOf(s); all != want {
		t.Error(all)
	}
	if all, _ := gatheredOf(new(State)); all != "" {
		t.Error(all)
	}
}

func TestLabels(t *testing.T) {
	for _, a := range []Agent{
		{Trust: map[string]Trust{"lok": Untrusted}},
		{Trust: map[string]Trust{"look": 3}},
	} {
		a.Name, a.Model, a.Tools = "a", ModelFunc(nil), []Tool{dud{ToolInfo{Name: "look"}}}
		if _, err := NewMachine(a); err == nil {
			t.Errorf("%v is taken", a.Trust)
		}
	}
	s := labelled(t, nil)
	var trust []Trust
	for _, tool := range s.Declaration().Tools {
		trust = append(trust, tool.Trust)
	}
	if got := fmt.Sprint(trust); got != "[trust(0) untrusted trust(0)]" {
		t.Error(got)
	}
}
