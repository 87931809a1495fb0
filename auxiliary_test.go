package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// asksFirst is a policy that has a model of its own asked about each answer
// before it ends the run, and goes on without where it cannot be had.
type asksFirst struct {
	model    pawl.Model
	called   string
	stubborn bool
}

func (asksFirst) String() string { return "asks_first" }

func (p asksFirst) AuxiliaryModels() []pawl.Model { return []pawl.Model{p.model} }

func (p asksFirst) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if _, ends := step.(pawl.Finish); !ends || s.RepliedAt("judge.test") > s.RepliedAt(pawl.PurposeTurn) {
		return step
	}
	if _, final := s.Missed("judge.test"); final && !p.stubborn {
		if _, noted := s.Note("asks_first", "without"); noted {
			return step
		}
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "asks_first", Name: "without", Value: json.RawMessage("true")}}}
	}
	return pawl.Think{Purpose: "judge.test", Model: p.called, View: pawl.View{Prompt: "Is it right?", Alone: true, Bare: true}}
}

// A policy brings a model of its own: it is declared, priced, and asked in
// place of the agent's; one that fails costs the run nothing but its judgement.
func TestAdviser(t *testing.T) {
	answers := func(text string) pawl.ModelFunc {
		return func(context.Context, pawl.Request) (pawl.Reply, error) {
			r := pawl.Say(text)
			r.Usage = pawl.Usage{Input: 100, Output: 10}
			return r, nil
		}
	}
	refuses := func(class pawl.Class) pawl.ModelFunc {
		return func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: class, Message: "out of order"}
		}
	}
	own := &pricedFunc{"house/own", &pawl.Price{Input: 1, Output: 1}, answers("Done.")}
	for name, c := range map[string]struct {
		judge  pawl.Model
		policy asksFirst
		want   string // of the log, by type and purpose
		end    string
	}{
		"asked": {
			judge: &pricedFunc{"house/judge", &pawl.Price{Input: 10, Output: 10}, answers("Yes.")},
			want:  "called turn ; replied turn $0.000110; called judge.test house/judge; replied judge.test $0.001100; success",
		},
		"fails for good": {
			judge: &pricedFunc{"house/judge", nil, refuses(pawl.ClassAuth)},
			want:  "called turn ; replied turn $0.000110; called judge.test house/judge; failed 1; noted; success",
		},
		"fails for a while": {
			judge: &pricedFunc{"house/judge", nil, refuses(pawl.ClassNetwork)},
			want:  "called turn ; replied turn $0.000110; called judge.test house/judge; failed 1; called judge.test house/judge; failed 2; noted; success",
		},
		"is asked all the same": {
			judge:  &pricedFunc{"house/judge", nil, refuses(pawl.ClassAuth)},
			policy: asksFirst{stubborn: true},
			want:   "called turn ; replied turn $0.000110; called judge.test house/judge; failed 1; failed: auth after 1 attempt: out of order; judge.test was asked for all the same",
		},
		"is nobody's": {
			judge:  &pricedFunc{"house/judge", nil, answers("Yes.")},
			policy: asksFirst{called: "house/other"},
			want:   `called turn ; replied turn $0.000110; failed: judge.test is to ask "house/other", a model that no policy and no loop brings`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.policy.model = c.judge; c.policy.called == "" {
				c.policy.called = "house/judge"
			}
			agent := pawl.Agent{Name: "a", Model: own, Policies: []pawl.Policy{c.policy}, Limits: pawl.Limits{Attempts: 2}}
			j := memory.New()
			e := engine.New(j, nil)
			run, err := e.Start(t.Context(), agent, "go", nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := run.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for entry, err := range engine.Entries(t.Context(), j, run.ID(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				switch ev := entry.Event.(type) {
				case pawl.ModelCalled:
					got = append(got, fmt.Sprintf("called %s %s", ev.Purpose, ev.Model))
				case pawl.ModelReplied:
					got = append(got, fmt.Sprintf("replied %s $%f", ev.Purpose, ev.Cost))
				case pawl.ModelFailed:
					got = append(got, fmt.Sprintf("failed %d", ev.Attempt))
				case pawl.Noted:
					got = append(got, "noted")
				case pawl.RunStarted:
					if len(ev.Declaration.Auxiliary) != 1 || ev.Declaration.Auxiliary[0].Name != "house/judge" {
						t.Errorf("auxiliaries declared: %v", ev.Declaration.Auxiliary)
					}
				}
			}
			end := r.Verdict.String()
			if r.Status == pawl.StatusSuccess {
				end = "success"
			}
			if got := strings.Join(append(got, end), "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if _, err := e.Replay(t.Context(), agent, run.ID()); err != nil {
				t.Error(err)
			}
			if name == "asked" && (r.CostUSD == nil || *r.CostUSD < 0.0012) {
				t.Errorf("cost %v", r.CostUSD)
			}
		})
	}
	agent := pawl.Agent{Name: "a", Model: own, Limits: pawl.Limits{Cost: 1}, Policies: []pawl.Policy{
		asksFirst{model: &pricedFunc{"house/judge", nil, answers("Yes.")}},
		asksFirst{model: &pricedFunc{"house/judge", nil, answers("No.")}},
		asksFirst{},
	}}
	_, err := pawl.NewMachine(agent)
	for _, want := range []string{"the auxiliary model house/judge has no price", `two models called "house/judge"`, "auxiliary models: one of them is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// A judge that cannot be asked does not end the run, and another purpose has not failed.
func TestMissed(t *testing.T) {
	s := new(pawl.State)
	for i, e := range []pawl.Event{
		pawl.RunStarted{Declaration: pawl.Declaration{Agent: "a", Strategy: pawl.StrategyNative}},
		pawl.ModelCalled{Purpose: "judge.test", Attempt: 1},
		pawl.ModelFailed{Purpose: "judge.test", Class: pawl.ClassAuth, Attempt: 1},
	} {
		s.Fold(pawl.Entry{Run: "r", Seq: uint64(i + 1), At: uint64(i), Event: e})
	}
	_, failed := s.Failure()
	if missed, final := s.Missed("judge.test"); failed || missed.Class != pawl.ClassAuth || !final {
		t.Errorf("failed %v, missed %v, final %v", failed, missed.Class, final)
	}
	if m, _ := s.Missed("judgement"); m.Class != 0 {
		t.Error("another purpose was missed")
	}
}
