package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// gate is a Read that runs until it is let go, whatever its context says.
type gate struct {
	in, out chan struct{}
}

func newGate() gate { return gate{make(chan struct{}, 16), make(chan struct{}, 16)} }

func (g gate) tool(effect pawl.Effect) pawl.Tool {
	return fake{name: "gate", effect: effect, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		g.in <- struct{}{}
		<-g.out
		return pawl.Output{}, nil
	}}
}

func clerk(g gate, plan ...[]pawl.Call) pawl.Agent {
	return pawl.Agent{Name: "clerk", Model: turns(plan...), Tools: []pawl.Tool{
		g.tool(pawl.Read), fake{name: "client", client: true},
	}}
}

func begin(t *testing.T, e *engine.Engine, a pawl.Agent) *engine.Handle {
	t.Helper()
	h, err := e.Start(t.Context(), a, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	return h
}

func resume(t *testing.T, e *engine.Engine, a pawl.Agent) *engine.Handle {
	t.Helper()
	h, err := e.Resume(t.Context(), a, "r", nil)
	must(t, err)
	return h
}

func ends(t *testing.T, h *engine.Handle, want pawl.Status) pawl.Result {
	t.Helper()
	res, err := wait(t, h)
	if err != nil || res.Status != want {
		t.Fatalf("the run is %v: %v, %v; want %v", res.Status, res.Verdict, err, want)
	}
	return res
}

// A signal that comes between the reading of the mail and the first step is read.
func TestLetterWhileResuming(t *testing.T) {
	j, g := newTap(), newGate()
	here, there := engine.New(j, nil), engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("gate", 1)}, []pawl.Call{call("gate", 2)})
	ctx, park := context.WithCancel(t.Context())
	h, err := here.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	<-g.in
	park()
	g.out <- struct{}{}
	ends(t, h, pawl.StatusPaused)
	// Something else keeps the attendant going, so that it sees the signal before the run is known to it.
	busy := newGate()
	other, err := here.Start(t.Context(), clerk(busy, []pawl.Call{call("gate", 1)}), "go", nil)
	must(t, err)
	<-busy.in
	j.on(func(b pawl.Batch, write func() error) error {
		err := write()
		if b.Run == "r" && has(b, "run.resumed") {
			if err := there.Cancel(t.Context(), "r", "x", "enough"); err != nil {
				t.Error(err)
			}
			time.Sleep(500 * time.Millisecond)
		}
		return err
	})
	h = resume(t, here, agent)
	soon(t, "the run ends", func() bool {
		select {
		case <-g.in:
			time.Sleep(time.Second) // within which the owner has looked
			g.out <- struct{}{}
		default:
		}
		return closed(h.Done())()
	})
	ends(t, h, pawl.StatusCancelled)
	busy.out <- struct{}{}
	ends(t, other, pawl.StatusSuccess)
}

// A run that is to be cancelled and parked at once does not forget the former.
func TestCancelAndPark(t *testing.T) {
	j, g := newTap(), newGate()
	e := engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("gate", 1)})
	ctx, park := context.WithCancel(t.Context())
	h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	<-g.in
	park()
	must(t, e.Cancel(t.Context(), "r", "x", "enough"))
	g.out <- struct{}{}
	ends(t, h, pawl.StatusCancelled)
	sound(t, e, j, agent, "r")
}

// late is a journal in which something happens just before a signal is posted.
type late struct {
	*tap
	first func()
}

func (j *late) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if j.first != nil {
		j.first()
		j.first = nil
	}
	return j.tap.Send(ctx, l)
}

// A run that succeeds while it is being cancelled has succeeded.
func TestCancelTooLate(t *testing.T) {
	j, g := &late{tap: newTap()}, newGate()
	e := engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("gate", 1)})
	h := begin(t, e, agent)
	<-g.in
	j.first = func() {
		g.out <- struct{}{}
		<-h.Done()
	}
	_ = e.Cancel(t.Context(), "r", "x", "enough") // it may say that the run is over
	ends(t, h, pawl.StatusSuccess)
	s, err := engine.Load(t.Context(), j, "r")
	if err != nil || s.Status() != pawl.StatusSuccess {
		t.Errorf("the run is %v, %v", s.Status(), err)
		dump(t, j, "r")
	}
}

// A cancel that nobody read before the run ended by itself does not end the run again when it is resumed.
func TestStaleCancel(t *testing.T) {
	j, g := newTap(), newGate()
	here, there := engine.New(j, nil), engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("gate", 1)}, []pawl.Call{call("gate", 2)})
	agent.Limits.Iterations = 1
	posted := false
	j.on(func(b pawl.Batch, write func() error) error {
		if !posted && has(b, "run.stopped") {
			posted = true
			if err := there.Cancel(t.Context(), "r", "x", "enough"); err != nil {
				t.Error(err)
			}
		}
		return write()
	})
	g.out <- struct{}{}
	res, err := wait(t, begin(t, here, agent))
	if err != nil || !posted || res.Status == pawl.StatusCancelled || res.Status == pawl.StatusSuccess {
		t.Fatal(res.Status, posted, err)
	}
	g.out <- struct{}{}
	h, err := here.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 9}})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
}

// An answer or a request to cancel that comes while the run parks is not lost: its
// sender finds the run taken and relies on the owner.
func TestSignalWhileParking(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(context.Context, *engine.Engine) error
		want pawl.Status
	}{
		{"answer", func(ctx context.Context, e *engine.Engine) error {
			return e.Submit(ctx, "r", "c_1", "x", json.RawMessage(`1`))
		}, pawl.StatusSuccess},
		{"cancel", func(ctx context.Context, e *engine.Engine) error { return e.Cancel(ctx, "r", "x", "enough") }, pawl.StatusCancelled},
	} {
		for _, when := range []string{"before", "after", "released"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				j, g := newTap(), newGate()
				here, there := engine.New(j, nil), engine.New(j, nil)
				agent := clerk(g, []pawl.Call{call("client", 1), call("gate", 1)})
				sent := false
				send := func() {
					if sent {
						return
					}
					sent = true
					if err := c.send(context.WithoutCancel(t.Context()), there); err != nil {
						t.Error(err)
					}
					var held *pawl.HeldError
					if _, err := there.Resume(t.Context(), agent, "r", nil); !errors.As(err, &held) {
						t.Errorf("resume of a run being parked: %v", err)
					}
				}
				j.on(func(b pawl.Batch, write func() error) error {
					pausing := has(b, "run.paused")
					if pausing && when == "before" {
						send()
					}
					err := write()
					if pausing && when == "after" {
						send()
					}
					return err
				})
				j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
					if when == "released" && c.Epoch != 0 && c.TTL <= 0 {
						send()
					}
					return take()
				})
				h := begin(t, here, agent)
				<-g.in
				g.out <- struct{}{}
				ends(t, h, c.want)
				sound(t, here, j, agent, "r")
			})
		}
	}
}

// A fork gets none of the letters of the run it comes from.
func TestForkMail(t *testing.T) {
	j, g := newTap(), newGate()
	e := engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("client", 1)}, []pawl.Call{call("client", 2)})
	ends(t, begin(t, e, agent), pawl.StatusWaitingClientTool)
	must(t, e.Submit(t.Context(), "r", "c_1", "x", json.RawMessage(`1`)))
	parent := loaded(t, j, "r")
	from, seq := "r", parent.Seq() // where it is paused
	for _, id := range []string{"f", "ff"} {
		h, err := e.Fork(t.Context(), agent, from, seq, &engine.ForkOptions{ID: id})
		must(t, err)
		ends(t, h, pawl.StatusWaitingClientTool)
		sound(t, e, j, agent, id)
		s, err := engine.Load(t.Context(), j, id)
		if err != nil || s.Internals().Signal() != 0 {
			t.Errorf("the fork has read letter %d, %v", s.Internals().Signal(), err)
		}
		from, seq = id, s.Seq()
	}
	for i, id := range []string{"f", "ff"} {
		for n := 1; n <= 2; n++ {
			must(t, e.Submit(t.Context(), id, fmt.Sprintf("c_%d", n), "x", fmt.Appendf(nil, "%d", i)))
			h, err := e.Resume(t.Context(), agent, id, nil)
			must(t, err)
			if res, err := wait(t, h); err != nil || n == 2 && res.Status != pawl.StatusSuccess {
				t.Fatal(res.Status, err)
			}
		}
		sound(t, e, j, agent, id)
	}
	ends(t, resume(t, e, agent), pawl.StatusWaitingClientTool)
	if s, err := engine.Load(t.Context(), j, "r"); err != nil || s.Iteration() != 2 {
		t.Errorf("the parent is in iteration %d, %v", s.Iteration(), err)
	}
}
