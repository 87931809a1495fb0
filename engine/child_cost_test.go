package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// TestChildCosts: what a child uses while its parent does not look counts when the parent ends.
func TestChildCosts(t *testing.T) {
	usage := pawl.Usage{Input: 100, Output: 7}
	clerkBy := func(model func(turn int)) pawl.Agent {
		plan := turns([]pawl.Call{call("pay", 1)}).(pawl.ModelFunc)
		c := paying(&ledger{})
		c.Model = priced{pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
			model(r.Turn)
			reply, err := plan(ctx, r)
			reply.Usage = usage
			return reply, err
		})}
		return c
	}
	// approved begins a run whose child c then has its approval, and can be resumed by itself.
	approved := func(t *testing.T, j *tap, c *pawl.Agent) *engine.Engine {
		agent := boss(*c)
		agent.Model = priced{agent.Model}
		e := engine.New(j, nil)
		ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
		must(t, e.Approve(t.Context(), "r.c_1", "c_1", "test", nil))
		c.Policies = agent.Policies
		return e
	}
	for name, play := range map[string]func(t *testing.T, j *tap){
		"it goes on by itself, and the parent is cancelled": func(t *testing.T, j *tap) {
			c := clerkBy(func(int) {})
			e := approved(t, j, &c)
			h, err := e.Resume(t.Context(), c, "r.c_1", &engine.ResumeOptions{AllowChange: true})
			must(t, err)
			ends(t, h, pawl.StatusSuccess)
			must(t, e.Cancel(t.Context(), "r", "test", "enough"))
		},
		"its owner has died, and its lease has not lapsed": func(t *testing.T, j *tap) {
			c := clerkBy(func(int) {
				for run, ttl := range map[string]time.Duration{"r": time.Nanosecond, "r.c_1": 100 * time.Millisecond} {
					_, err := j.Journal.Claim(t.Context(), pawl.Claim{Run: run, Owner: "other", TTL: ttl, Over: 1})
					must(t, err)
				}
			})
			agent := boss(c)
			agent.Model = priced{agent.Model}
			if _, err := wait(t, begin(t, engine.New(j, nil), agent)); err == nil {
				t.Fatal("the first owner does not notice")
			}
			must(t, engine.New(j, nil).Cancel(t.Context(), "r", "test", "enough"))
		},
		"another process has it, and the parent is cancelled before it begins to wait": func(t *testing.T, j *tap) {
			agent := boss(clerkBy(func(int) {}))
			agent.Model = priced{agent.Model}
			e := engine.New(j, nil)
			ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
			must(t, e.Approve(t.Context(), "r.c_1", "c_1", "test", nil))
			l, err := j.Journal.Claim(t.Context(), pawl.Claim{Run: "r.c_1", Owner: "other", TTL: time.Hour})
			must(t, err)
			tried := make(chan struct{}, 999)
			j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
				if c.Run == "r.c_1" {
					tried <- struct{}{}
				}
				return take()
			})
			h := resume(t, e, agent)
			<-tried
			must(t, e.Cancel(t.Context(), "r", "test", "enough"))
			soon(t, "the child is cancelled, too", func() bool { return len(tried) > 0 })
			_, err = j.Journal.Claim(t.Context(), pawl.Claim{Run: "r.c_1", Owner: "other", Epoch: l.Epoch})
			must(t, err)
			ends(t, h, pawl.StatusCancelled)
			if s := loaded(t, j, "r.c_1"); s.Status() != pawl.StatusCancelled {
				t.Errorf("the child is %v", s.Status())
			}
		},
		"another process goes on with it": func(t *testing.T, j *tap) {
			there := engine.New(j, nil)
			asked, reply := make(chan struct{}), make(chan struct{})
			c := clerkBy(func(turn int) {
				if turn == 2 {
					close(asked)
					<-reply
				}
			})
			e := approved(t, j, &c)
			h, err := there.Resume(t.Context(), c, "r.c_1", &engine.ResumeOptions{AllowChange: true})
			must(t, err)
			<-asked
			done := make(chan error)
			go func() { done <- e.Cancel(t.Context(), "r", "test", "enough") }()
			soon(t, "it is cancelled, too", func() bool {
				for l := range j.Signals(t.Context(), "r.c_1", 0) {
					if l.Kind == pawl.SignalCancel {
						return true
					}
				}
				return false
			})
			close(reply)
			must(t, <-done)
			_, err = wait(t, h) // it may have ended by itself
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newTap()
			play(t, j)
			if s := loaded(t, j, "r"); s.Status() != pawl.StatusCancelled {
				t.Errorf("it is %v", s.Status())
			}
			accounts(t, j, []string{"r", "r.c_1"})
			if spent := booked(t, j, "r.c_1"); spent.Cost == 0 {
				t.Error("the child has used nothing")
			}
		})
	}
}
