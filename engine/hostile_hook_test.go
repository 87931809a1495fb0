package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
)

// hookFunc is a hook made of a function.
type hookFunc func(s *pawl.State, e pawl.Entry) engine.Direction

func (hookFunc) Name() string { return "picky" }

func (f hookFunc) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	return f(s, e)
}

// picky wants the plan of the second turn made again until it is sure of
// itself, and every call run twice.
func picky(s *pawl.State, e pawl.Entry) engine.Direction {
	switch ev := e.Event.(type) {
	case pawl.ModelReplied:
		return engine.Direction{Retry: e.Iteration == 2 && ev.Reply.Text() != "sure", Reason: "be sure"}
	case pawl.ToolFinished:
		c, _ := s.Call(ev.Call)
		return engine.Direction{Retry: c.Retries == 0, Reason: "once is not enough"}
	}
	return engine.Direction{}
}

// retried is a spender that is sure when told to be, together with what its
// model was told last.
func retried(t *testing.T, run func(pawl.Invocation)) (pawl.Agent, *pawl.Request) {
	agent, last := spender(run), new(pawl.Request)
	plan := [][]pawl.Call{
		{call("look", 1)},
		{call("put", 1), call("look", 9)},
		{call("pay", 1)},
		{call("look", 2), call("look", 3), call("put", 2), call("pay", 2), call("put", 2)},
	}
	agent.Model = pawltest.Check(t, pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		*last = r
		k, told := 0, false
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(pawl.Text); ok && m.Role == pawl.RoleUser {
					if told = strings.Contains(text.Text, "be sure"); told {
						k--
					}
				}
			}
			if m.Role == pawl.RoleAssistant {
				k++
				told = false
			}
		}
		if k >= len(plan) {
			return pawl.Say("done"), nil
		}
		reply := pawl.Do(plan[k]...)
		if told {
			reply.Parts = append([]pawl.Part{pawl.Text{Text: "sure"}}, reply.Parts...)
		}
		return reply, nil
	}))
	return agent, last
}

// recorded returns the lines of a run's log.
func recorded(t *testing.T, j pawl.Journal) (lines [][]byte) {
	t.Helper()
	for row, err := range j.Read(t.Context(), "r", 1) {
		must(t, err)
		lines = append(lines, row.Data)
	}
	return lines
}

// cut is a journal whose log ends early, as its writer's death left it.
func cut(t *testing.T, lines [][]byte) *memory.Journal {
	t.Helper()
	j := memory.New()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Hour, New: true})
	if err == nil {
		err = j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: lease.Epoch, Records: lines})
	}
	if err == nil {
		_, err = j.Claim(t.Context(), pawl.Claim{Run: "r", Epoch: lease.Epoch})
	}
	must(t, err)
	return j
}

// whole holds what must be true of a finished run in which hooks had things
// made again: the model was told the last result of every call, every attempt
// at a call had the same key, no Write ran twice, and the log replays.
func whole(t *testing.T, e *engine.Engine, j pawl.Journal, agent pawl.Agent, last *pawl.Request) *pawl.State {
	t.Helper()
	s := loaded(t, j, "r")
	for _, m := range last.Messages {
		for _, p := range m.Parts {
			r, ok := p.(pawl.ToolResult)
			if !ok {
				continue
			}
			if c, _ := s.Call(r.Call); !r.Failed && string(c.Result) != string(r.Content) {
				t.Errorf("the model was told %s of %s, whose result is %s", r.Content, r.Call, c.Result)
			}
		}
	}
	keys := map[string]string{}
	for entry := range entriesOf(t, j, "r") {
		start, ok := entry.Event.(pawl.ToolStarted)
		if !ok {
			continue
		}
		if key, again := keys[start.Call]; again && key != start.Key {
			t.Errorf("%s ran with the keys %s and %s", start.Call, key, start.Key)
		}
		keys[start.Call] = start.Key
	}
	for c := range s.Calls() {
		if c.Effect == pawl.Write && c.Retries > 0 {
			t.Errorf("%s is a Write and was run again", c.ID)
		}
	}
	sound(t, e, j, agent, "r")
	return s
}

// A hook that comes in when a run is resumed wants what it was never asked
// about made again, wherever that is: after other calls, after a look at the
// world, after the turn was rejected, or the run had ended.
func TestHookComesLate(t *testing.T) {
	observed := func(a pawl.Agent) pawl.Agent {
		a.Observer = func(context.Context) (pawl.Observation, error) { return pawl.Observation{Text: "all is well"}, nil }
		return a
	}
	full := newTap()
	agent, _ := retried(t, func(pawl.Invocation) {})
	ends(t, begin(t, engine.New(full, nil), observed(agent)), pawl.StatusSuccess)
	lines := recorded(t, full)
	all := hookFunc(func(*pawl.State, pawl.Entry) engine.Direction {
		return engine.Direction{Retry: true, Reason: "be sure"}
	})
	again := 0
	for k := 1; k < len(lines); k++ {
		for name, hook := range map[string]hookFunc{"picky": picky, "all": all} {
			j := cut(t, lines[:k])
			agent, last := retried(t, func(pawl.Invocation) {})
			agent = observed(agent)
			e := engine.New(j, &engine.Options{Hooks: []engine.Hook{hook}})
			res := settleAll(t, e, agent, "r", func(string) bool { return k%2 == 0 })
			if name == "picky" && (res.Status != pawl.StatusSuccess || res.Answer != "done") {
				t.Errorf("cut at %d: %v, %q", k, res.Verdict, res.Answer)
			}
			if name == "all" && res.Status != pawl.StatusPlanFailed { // no reply is good enough for it
				t.Errorf("cut at %d: %v", k, res.Verdict)
			}
			s := whole(t, e, j, agent, last)
			for c := range s.Calls() {
				again += c.Retries
				if c.Retries > 2 {
					t.Errorf("cut at %d: %s was run again %d times", k, c.ID, c.Retries)
				}
			}
			if t.Failed() {
				dump(t, j, "r")
				t.FailNow()
			}
		}
	}
	if again == 0 {
		t.Error("no call was run again at all")
	}
}
