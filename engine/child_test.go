package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// paying pays once it may.
func paying(l *ledger) pawl.Agent {
	run := func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
		l.add(inv)
		return pawl.Output{JSON: json.RawMessage(`"paid"`)}, nil
	}
	return pawl.Agent{
		Name: "clerk", Description: "Pays.", Model: turns([]pawl.Call{call("pay", 1)}),
		Tools: []pawl.Tool{fake{name: "pay", effect: pawl.Write, run: run}},
	}
}

func ask(agent string) pawl.Call {
	return pawl.Call{Tool: agent, Args: json.RawMessage(`{"input":"go"}`)}
}

// boss has its clerk pay, and a gate before paying.
func boss(clerk pawl.Agent, beside ...pawl.Tool) pawl.Agent {
	batch := []pawl.Call{ask("clerk")}
	for _, t := range beside {
		batch = append(batch, call(t.Info().Name, 1))
	}
	return pawl.Agent{
		Name: "boss", Model: turns(batch), Tools: append([]pawl.Tool{tool.Agent(clerk, nil)}, beside...),
		Policies: []pawl.Policy{approval.For("pay")},
	}
}

// A decision that comes while a sibling runs needs nobody to resume the run.
func TestChildMailMeanwhile(t *testing.T) {
	j, l := newTap(), &ledger{}
	goOn := make(chan struct{})
	slow := fake{name: "slow", effect: pawl.Read, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		<-goOn
		return pawl.Output{}, nil
	}}
	c := paying(l)
	c.Tools = []pawl.Tool{fake{name: "pay", effect: pawl.Read, run: c.Tools[0].Run}} // so that it runs beside
	agent := boss(c, slow)
	h := begin(t, engine.New(j, nil), agent)
	soon(t, "the child waits", func() bool {
		s, err := engine.Load(t.Context(), j, "r.c_1")
		return err == nil && s.Status() == pawl.StatusWaitingApproval
	})
	must(t, engine.New(j, nil).Approve(t.Context(), "r.c_1", "c_1", "test", nil))
	close(goOn)
	ends(t, h, pawl.StatusSuccess)
	sound(t, engine.New(j, nil), j, agent, "r")
}

// A child that somebody drives by itself wakes its parent when it ends, and the
// parent takes its answer without running it again.
func TestChildByItself(t *testing.T) {
	j, l := newTap(), &ledger{}
	c := paying(l)
	agent := boss(c)
	e := engine.New(j, nil)
	ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
	must(t, e.Approve(t.Context(), "r.c_1", "c_1", "test", nil))
	c.Policies, c.Limits = agent.Policies, pawl.Limits{}
	h, err := e.Resume(t.Context(), c, "r.c_1", &engine.ResumeOptions{AllowChange: true})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	woken := 0
	for letter, err := range j.Signals(t.Context(), "r", 0) {
		must(t, err)
		if letter.Kind == pawl.SignalChild {
			woken++
		}
	}
	if woken != 1 {
		t.Errorf("the parent was told %d times", woken)
	}
	ends(t, resume(t, e, agent), pawl.StatusSuccess)
	if l.len() != 1 {
		t.Errorf("what was paid: %v", l.lines)
	}
	sound(t, e, j, agent, "r")
}

// A parent that lost its run lets go of its children and cancels none: they are
// the new owner's.
func TestChildOfZombie(t *testing.T) {
	j := newTap()
	begun, goOn := make(chan struct{}, 9), make(chan struct{})
	look := fake{name: "look", effect: pawl.Read, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return pawl.Output{}, ctx.Err()
		case <-goOn:
			return pawl.Output{JSON: json.RawMessage(`"seen"`)}, nil
		}
	}}
	scout := pawl.Agent{Name: "scout", Description: "Looks.", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{look}}
	agent := pawl.Agent{Name: "boss", Model: turns([]pawl.Call{ask("scout"), ask("scout")}), Tools: []pawl.Tool{tool.Agent(scout, nil)}}
	first := engine.New(j, &engine.Options{Lease: time.Second})
	h := begin(t, first, agent)
	<-begun
	<-begun
	for _, run := range []string{"r", "r.c_1", "r.c_2"} { // taken over by somebody who knows the owner to be gone
		lease, err := j.Journal.Claim(t.Context(), pawl.Claim{Run: run, Owner: "second", TTL: 1, Over: 1})
		must(t, err)
		_, err = j.Journal.Claim(t.Context(), pawl.Claim{Run: run, Owner: "second", Epoch: lease.Epoch})
		must(t, err)
	}
	if _, err := wait(t, h); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("the first owner ends with %v", err)
	}
	close(goOn)
	second := engine.New(j, nil)
	h = resume(t, second, agent)
	ends(t, h, pawl.StatusSuccess)
	for _, run := range []string{"r.c_1", "r.c_2"} {
		for e, err := range engine.Entries(t.Context(), j, run, 1) {
			if err != nil || e.Type() == "cancel.requested" {
				t.Errorf("%s has %v, %v", run, e.Event, err)
			}
		}
	}
	sound(t, second, j, agent, "r")
}

// Runs nest as deep as the outermost allows, and one that may not go deeper is
// told so.
func TestChildDepth(t *testing.T) { // Promises: D10.
	j := newTap()
	agent := pawl.Agent{Name: "leaf", Description: "Is the last.", Model: turns()}
	for n := range 5 {
		agent = pawl.Agent{Name: fmt.Sprintf("level-%d", n), Description: "Goes on.", Tools: []pawl.Tool{tool.Agent(agent, nil)}, Model: turns([]pawl.Call{ask(agent.Name)})}
	}
	agent.Limits.Depth = 3
	h := begin(t, engine.New(j, nil), agent)
	ends(t, h, pawl.StatusSuccess)
	run, deepest := "r", ""
	for range 5 {
		s, err := engine.Load(t.Context(), j, run)
		if err != nil {
			break
		}
		for c := range s.Calls() {
			deepest = run + ": " + c.Error
		}
		run += ".c_1"
	}
	if !strings.HasPrefix(deepest, "r.c_1.c_1.c_1: runs are nested as deep as they may be") {
		t.Errorf("the deepest call: %s", deepest)
	}
}

// A child whose log is not in this journal, though its parent knows how far it
// came, may have done what it would do again.
func TestChildGone(t *testing.T) {
	from, l := newTap(), &ledger{}
	agent := boss(paying(l))
	h := begin(t, engine.New(from, nil), agent)
	ends(t, h, pawl.StatusWaitingApproval)
	to := &tap{Journal: cut(t, recorded(t, from))}
	h = resume(t, engine.New(to, nil), agent)
	if res := ends(t, h, pawl.StatusWaitingDoubt); !strings.Contains(res.Reason.Detail, "r.c_1 is not in this journal") {
		t.Errorf("why: %s", res.Reason.Detail)
	}
}

// What is wrong with an agent that is a tool is told when its parent is prepared.
func TestChildInvalid(t *testing.T) {
	bad := pawl.Agent{Name: "Bad Name", Limits: pawl.Limits{Tokens: -1}}
	agent := pawl.Agent{Name: "boss", Model: turns(), Tools: []pawl.Tool{tool.Agent(bad, &tool.AgentOptions{Name: "bad", Description: "Bad."})}}
	_, err := engine.New(newTap(), nil).Start(t.Context(), agent, "go", nil)
	for _, want := range []string{`tool "bad": agent "Bad Name":`, "model: none is set", "tokens is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
}

// A run whose child is claimed by another process can be stopped meanwhile, and the child begins
// when the run is resumed.
func TestChildClaimedWhileStopping(t *testing.T) {
	for _, way := range []string{"cancelled", "suspended", "closed", "cancelled as the engine closes"} {
		t.Run(way, func(t *testing.T) {
			j, l := newTap(), &ledger{}
			agent := boss(paying(l))
			agent.Policies = nil
			claim := pawl.Claim{Run: "r.c_1", Owner: "other", TTL: time.Hour, New: true}
			lease, err := j.Journal.Claim(t.Context(), claim)
			must(t, err)
			tried := make(chan struct{}, 9)
			j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
				if c.Run == "r.c_1" {
					tried <- struct{}{}
				}
				return take()
			})
			e := engine.New(j, nil)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
			must(t, err)
			<-tried
			want := pawl.StatusPaused
			switch way {
			case "suspended":
				end()
			case "closed":
				must(t, e.Close())
			case "cancelled as the engine closes":
				engine.BeginClose(e)
				fallthrough
			case "cancelled":
				want = pawl.StatusCancelled
				must(t, e.Cancel(t.Context(), "r", "test", "enough"))
			}
			ends(t, h, want)
			_, err = j.Journal.Claim(t.Context(), pawl.Claim{Run: "r.c_1", Owner: "other", Epoch: lease.Epoch})
			must(t, err)
			again := engine.New(j, nil)
			ends(t, resume(t, again, agent), pawl.StatusSuccess)
			if l.len() != 1 {
				t.Errorf("what was paid: %v", l.lines)
			}
			sound(t, again, j, agent, "r")
		})
	}
}

// A run waits for the time of a lease until another process releases its child. If that process
// keeps the child, the run pauses until the child ends.
func TestChildHeldElsewhere(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			j, l := newTap(), &ledger{}
			agent := boss(paying(l))
			e := engine.New(j, nil)
			ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
			must(t, e.Approve(t.Context(), "r.c_1", "c_1", "test", nil))
			lease, err := j.Journal.Claim(t.Context(), pawl.Claim{Run: "r.c_1", Owner: "other", TTL: time.Second})
			must(t, err)
			want := pawl.StatusSuccess
			if goesOn {
				want = pawl.StatusPaused
				j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
					got, held := take()
					if held != nil && c.Run == "r.c_1" {
						_, err := j.Journal.Claim(t.Context(), pawl.Claim{Run: "r.c_1", Owner: "other", TTL: time.Hour, Epoch: lease.Epoch})
						must(t, err)
					}
					return got, held
				})
			}
			ends(t, resume(t, e, agent), want)
			sound(t, e, j, agent, "r")
			must(t, e.Close())
		})
	}
}

// hesitant is a clerk that pays when it is let, and says before that it is about to.
func hesitant(l *ledger, pays *chan struct{}, goOn chan struct{}) pawl.Agent {
	clerk := paying(l)
	pay := clerk.Tools[0].(fake)
	clerk.Tools = []pawl.Tool{fake{name: "pay", effect: pawl.Write, run: func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
		close(*pays)
		<-goOn
		return pay.run(ctx, inv)
	}}}
	return clerk
}

// A run whose child ends elsewhere just before the run would wait for it goes on with its result.
func TestChildEndsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, l := newTap(), &ledger{}
		pays, goOn := make(chan struct{}), make(chan struct{})
		agent := boss(hesitant(l, &pays, goOn))
		here, there := engine.New(j, nil), engine.New(j, nil)
		ends(t, begin(t, here, agent), pawl.StatusWaitingApproval)
		must(t, here.Approve(t.Context(), "r.c_1", "c_1", "test", nil))
		of, err := there.AgentOf(t.Context(), agent, "r.c_1")
		must(t, err)
		child, err := there.Resume(t.Context(), of, "r.c_1", nil)
		must(t, err)
		<-pays
		tries := 0
		j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
			got, held := take()
			if held != nil && c.Run == "r.c_1" {
				if tries++; tries == 2 {
					close(goOn)
					<-child.Done()
					time.Sleep(time.Second) // until the run has the signal
				}
			}
			return got, held
		})
		ends(t, resume(t, here, agent), pawl.StatusSuccess)
		sound(t, here, j, agent, "r")
	})
}
