package worker_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// picker asks its client once, and says what came back.
func picker() pawl.Agent {
	return pawl.Agent{Name: "picker", Tools: []pawl.Tool{client{}}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return pawl.Do(pawl.Call{Tool: "pick", Args: []byte(`{}`)}), nil
		}
		return pawl.Say("picked"), nil
	})}
}

// waiting leaves a run that waits for its client.
func waiting(t *testing.T, j pawl.Journal, agent pawl.Agent, run string) {
	t.Helper()
	h, err := engine.New(j, nil).Start(t.Context(), agent, "go", &engine.StartOptions{ID: run})
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || !r.Status.Waiting() {
		t.Fatal(r.Status, err)
	}
}

// A run is resumed when it has an unread signal that it waits for: one that was sent
// before the program looked for the first time, or while it looks, from any sender.
func TestSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), picker()
		desk := engine.New(j, nil)
		submit := func(run, call string) {
			t.Helper()
			must(t, desk.Submit(t.Context(), run, call, "client", []byte(`1`)))
		}
		for _, run := range []string{"before", "while", "never"} {
			waiting(t, j, agent, run)
		}
		submit("before", "c_1")
		p := sweeps(t, j, agent)
		time.Sleep(time.Minute)
		submit("while", "c_1")
		synctest.Wait()
		if s := status(t, j, "while"); s != pawl.StatusWaitingClientTool {
			t.Errorf("it is %v at once, though who sent the signal may be about to resume the run", s)
		}
		time.Sleep(11 * time.Second)
		for run, want := range map[string]pawl.Status{"before": pawl.StatusSuccess, "while": pawl.StatusSuccess, "never": pawl.StatusWaitingClientTool} {
			if s, n := status(t, j, run), len(events(t, j, run, "run.resumed")); s != want || want == pawl.StatusSuccess && n != 1 || want != pawl.StatusSuccess && n != 0 {
				t.Errorf("%s is %v, resumed %d times", run, s, n)
			}
		}
		if n := p.tries.Load(); n != 2 {
			t.Errorf("runs were resumed %d times", n)
		}
	})
}

// What says nothing to a run does not resume it, however often it is looked at.
func TestVoidSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), picker()
		waiting(t, j, agent, "r")
		for _, l := range []pawl.Signal{
			{Kind: pawl.SignalDelivery, Request: "told", Body: []byte(`{}`)},
			{Kind: pawl.SignalResult, Request: "c_1.1", Body: []byte(`{"result":1}`)}, // of another request
			{Kind: pawl.SignalResult, Request: "c_9.1", Body: []byte(`{"result":1}`)},
			{Kind: pawl.SignalCancel, Request: "cancel.0", Body: []byte(`{}`)},
		} {
			l.Run = "r"
			_, err := j.Send(t.Context(), l)
			must(t, err)
		}
		p := sweeps(t, j, agent)
		time.Sleep(time.Hour)
		if n := p.tries.Load(); n != 0 || status(t, j, "r") != pawl.StatusWaitingClientTool {
			t.Errorf("it was resumed %d times", n)
		}
		if n := j.reads.Load(); n > 20 {
			t.Errorf("its log was read %d times", n)
		}
	})
}

// delegating returns an agent that calls a picker, which waits for its client.
func delegating() pawl.Agent {
	child := picker()
	child.Description = "Picks."
	return pawl.Agent{Name: "parent", Tools: []pawl.Tool{tool.Agent(child, nil)}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return pawl.Do(pawl.Call{Tool: "picker", Args: []byte(`{"input":"x"}`)}), nil
		}
		return pawl.Say("done"), nil
	})}
}

// What a child run waits for resumes the run that it descends from.
func TestChildSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		parent := delegating()
		waiting(t, j, parent, "r")
		waiting(t, j, parent, "cancelled")
		sweeps(t, j, parent)
		time.Sleep(time.Minute)
		must(t, engine.New(j, nil).Submit(t.Context(), "r.c_1", "c_1", "client", []byte(`1`)))
		_, err := j.Send(t.Context(), pawl.Signal{Run: "cancelled.c_1", Kind: pawl.SignalCancel, Request: "cancel.1", By: "ann", Body: []byte(`{}`)})
		must(t, err)
		time.Sleep(11 * time.Second)
		for run, want := range map[string]pawl.Status{"r": pawl.StatusSuccess, "cancelled": pawl.StatusCancelled} {
			if s, of := status(t, j, run), status(t, j, run+".c_1"); s != pawl.StatusSuccess || of != want {
				t.Errorf("%s is %v, its child %v", run, s, of)
			}
		}
	})
}

// unreadable is a journal whose signals cannot be read.
type unreadable struct{ disk }

func (unreadable) Signals(context.Context, string, int64) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) { yield(pawl.Signal{}, errors.New("not now")) }
}

// A signal that was seen while another process drove the run is not forgotten if that process
// lets go of the run before it reads the signal.
func TestSignalOfDrivenRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		child := picker()
		child.Description = "Picks."
		slow := tool.FuncWith("slow", "Takes long.", func(context.Context, struct{}) (string, error) {
			time.Sleep(10 * time.Minute)
			return "done", nil
		}, pawl.Read, &tool.Options{Timeout: time.Hour})
		parent := pawl.Agent{Name: "parent", Tools: []pawl.Tool{tool.Agent(child, &tool.AgentOptions{Effect: pawl.Read}), slow}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) == 1 {
				return pawl.Do(pawl.Call{Tool: "picker", Args: []byte(`{"input":"x"}`)}, pawl.Call{Tool: "slow", Args: []byte(`{}`)}), nil
			}
			return pawl.Say("done"), nil
		})}
		h, err := engine.New(unreadable{j}, nil).Start(t.Context(), parent, "go", &engine.StartOptions{ID: "r"})
		must(t, err)
		sweeps(t, j, parent)
		time.Sleep(time.Minute)
		must(t, engine.New(j, nil).Submit(t.Context(), "r.c_1", "c_1", "client", []byte(`1`)))
		before := j.lists.Load()
		r, err := h.Wait(t.Context())
		if err != nil || r.Status != pawl.StatusWaitingClientTool {
			t.Fatal(r.Status, err)
		}
		if n := j.lists.Load() - before; n > 350 { // two at each look, and a few for the run
			t.Errorf("the journal was searched %d times", n)
		}
		time.Sleep(15 * time.Minute)
		if s := status(t, j, "r"); s != pawl.StatusSuccess {
			t.Errorf("it is %v", s)
		}
	})
}

// blinking is a journal that fails every other time to find a run by its id while it is out.
type blinking struct {
	disk
	out   atomic.Bool
	finds atomic.Int64
}

func (b *blinking) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	if q.Run != "" && b.out.Load() && b.finds.Add(1)%2 == 0 {
		return func(yield func(pawl.Head, error) bool) { yield(pawl.Head{}, errors.New("not now")) }
	}
	return b.disk.List(ctx, q)
}

// A worker that cannot resume a run with a signal now tries again: the journal fails, its agent
// cannot be made, a request takes its last slot, or the owner that parked the run has not
// released it.
func TestSignalInVain(t *testing.T) {
	hold := func(t *testing.T, j pawl.Journal) {
		_, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: `{"host":"elsewhere"}`, TTL: 30 * time.Second})
		must(t, err)
	}
	for name, c := range map[string]struct {
		before, after func(t *testing.T, j *blinking, p *program)
	}{
		"journal": {
			func(_ *testing.T, j *blinking, _ *program) { j.out.Store(true) },
			func(_ *testing.T, j *blinking, _ *program) { j.out.Store(false) },
		},
		"owner": {func(t *testing.T, j *blinking, _ *program) { hold(t, j) }, func(*testing.T, *blinking, *program) {}},
		"child": {
			func(_ *testing.T, _ *blinking, p *program) { p.fails.Store(true) },
			func(_ *testing.T, _ *blinking, p *program) { p.fails.Store(false) },
		},
		"slot": {
			func(_ *testing.T, _ *blinking, p *program) { p.busy.Store(true) },
			func(_ *testing.T, _ *blinking, p *program) { p.busy.Store(false) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &blinking{disk: newDisk()}
				parent := delegating()
				waiting(t, j, parent, "r")
				p := sweeps(t, j, parent)
				time.Sleep(time.Minute)
				must(t, engine.New(j, nil).Submit(t.Context(), "r.c_1", "c_1", "client", []byte(`1`)))
				c.before(t, j, p)
				time.Sleep(20 * time.Second)
				if s := status(t, j, "r"); s != pawl.StatusWaitingClientTool {
					t.Fatalf("it is %v", s)
				}
				c.after(t, j, p)
				time.Sleep(40 * time.Second)
				if s := status(t, j, "r"); s != pawl.StatusSuccess {
					t.Errorf("it is %v: %s", s, p.log.String())
				}
			})
		})
	}
}

// closing is a journal that shuts its engine down when it appends to one run, or claims another.
type closing struct {
	disk
	resumes, claims string
	shut            func()
}

func (c *closing) Claim(ctx context.Context, claim pawl.Claim) (pawl.Lease, error) {
	if claim.Run == c.claims {
		c.shut()
	}
	return c.disk.Claim(ctx, claim)
}

func (c *closing) Append(ctx context.Context, b pawl.Batch) error {
	if b.Run == c.resumes {
		c.shut()
	}
	return c.disk.Append(ctx, b)
}

// A signal to a child stays a reason to resume the run that it descends from, if the process that
// resumed that run was shut down before it got to the child.
func TestSignalAtShutdown(t *testing.T) {
	over := func(of pawl.Agent, o tool.AgentOptions) pawl.Agent {
		of.Description = "Picks."
		return pawl.Agent{Name: "over-" + of.Name, Tools: []pawl.Tool{tool.Agent(of, &o)}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			switch {
			case len(r.Messages) == 1:
				return pawl.Do(pawl.Call{Tool: of.Name, Args: []byte(`{"input":"x"}`)}), nil
			}
			return pawl.Say("done"), nil
		})}
	}
	one := over(picker(), tool.AgentOptions{})
	two := over(one, tool.AgentOptions{})
	for name, c := range map[string]struct {
		agent  pawl.Agent
		child  string
		closes closing
	}{
		"child, resumed":            {one, "r.c_1", closing{resumes: "r"}},
		"child, claimed":            {one, "r.c_1", closing{claims: "r.c_1"}},
		"child of a child, resumed": {two, "r.c_1.c_1", closing{resumes: "r"}},
		"child of a child, claimed": {two, "r.c_1.c_1", closing{claims: "r.c_1.c_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newDisk()
				waiting(t, j, c.agent, "r")
				must(t, engine.New(j, nil).Submit(t.Context(), c.child, "c_1", "client", []byte(`1`)))
				c.closes.disk = j
				e := engine.New(&c.closes, nil)
				var closed sync.WaitGroup
				c.closes.shut = sync.OnceFunc(func() {
					closed.Go(func() { must(t, e.Close()) })
					time.Sleep(time.Millisecond) // until it closes
				})
				h, err := e.Resume(t.Context(), c.agent, "r", nil)
				must(t, err)
				r, err := h.Wait(t.Context())
				closed.Wait()
				child, failed := engine.Load(t.Context(), j, c.child)
				must(t, failed)
				if err != nil || r.Status != pawl.StatusPaused || child.Internals().Signal() != 0 {
					t.Fatalf("it is %v, its child has read signal %d, %v", r.Status, child.Internals().Signal(), err)
				}
				sweeps(t, j, c.agent)
				time.Sleep(11 * time.Second)
				if s := status(t, j, "r"); s != pawl.StatusSuccess {
					t.Errorf("it is %v", s)
				}
			})
		})
	}
}
