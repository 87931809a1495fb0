package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A call that is left behind leaves its run alone, however late it comes back,
// whatever the run does meanwhile, and however many there are.
func TestLeftBehind(t *testing.T) {
	var away atomic.Int64
	free := make(chan struct{})
	run := func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
		if inv.Tool == "hang" {
			away.Add(1)
			defer away.Add(-1)
			<-free
		}
		if inv.Tool == "dawdle" { // and this one comes back while the run goes on
			away.Add(1)
			defer away.Add(-1)
			<-ctx.Done()
			time.Sleep(25 * time.Millisecond)
		}
		return pawl.Output{JSON: fmt.Appendf(nil, "%q", inv.Call)}, nil
	}
	limit := 10 * time.Millisecond
	agent := pawl.Agent{Name: "patient", Tools: []pawl.Tool{
		quick{fake{name: "hang", effect: pawl.Read, limit: limit, run: run}},
		quick{fake{name: "dawdle", effect: pawl.Read, limit: limit, run: run}},
		fake{name: "look", effect: pawl.Read, run: run},
	}}
	var plan [][]pawl.Call
	for n := range 4 {
		plan = append(plan, []pawl.Call{call("hang", n)}, []pawl.Call{call("look", n)}, []pawl.Call{call("dawdle", n)}, []pawl.Call{call("look", n)},
			[]pawl.Call{call("hang", n), call("look", n), call("dawdle", n), call("look", -n)})
	}
	agent.Model = turns(plan...)
	agent.Limits.Iterations = 100
	j := memory.New()
	e := engine.New(j, nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			h, err := e.Start(t.Context(), agent, "go", nil)
			if err != nil {
				t.Error(err)
				return
			}
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != pawl.StatusSuccess {
				t.Error(res.Verdict, err)
			}
			s, err := engine.Load(t.Context(), j, h.ID())
			if err != nil {
				t.Error(err)
			}
			for c := range s.Calls() {
				want := pawl.ToolOK
				if c.Tool != "look" {
					want = pawl.ToolTimeout
				}
				if c.Status != want && c.Tool != "dawdle" {
					t.Errorf("%s %s: %v", c.ID, c.Tool, c.Status)
				}
			}
			replays(t, e, agent, h.ID())
		})
	}
	all.Wait()
	close(free)
	soon(t, "all come back", func() bool { return away.Load() == 0 })
}

// streamer says its answer piece by piece.
type streamer int

func (n streamer) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for range n {
			if !yield(pawl.Chunk{Text: "x"}, nil) {
				return
			}
		}
		reply, err := turns([]pawl.Call{call("look", 1)}, []pawl.Call{call("look", 2)}).(pawl.ModelFunc)(ctx, r)
		yield(pawl.Chunk{Reply: &reply}, err)
	}
}

// Closing while runs begin leaves none running, none owned, and hangs nowhere.
func TestCloseWhileStarting(t *testing.T) {
	agent := pawl.Agent{Name: "looker", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{
		fake{name: "look", effect: pawl.Read, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
			<-ctx.Done()
			return pawl.Output{}, ctx.Err()
		}}}}
	for range 30 {
		j := memory.New()
		e := engine.New(j, nil)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 30 * time.Microsecond)
				h, err := e.Start(t.Context(), agent, "go", nil)
				if err != nil {
					return
				}
				if res, err := h.Wait(t.Context()); err != nil || res.Status != pawl.StatusPaused {
					t.Error(res.Status, err)
				}
			})
		}
		time.Sleep(100 * time.Microsecond)
		for range 2 {
			all.Go(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		must(t, e.Close())
		for head, err := range j.List(t.Context(), pawl.Query{}) {
			if err != nil || !head.Lease.Until.IsZero() {
				t.Errorf("run %s is owned by %q, %v", head.Run, head.Lease.Owner, err)
			}
			if head.Seq > 0 && head.Status != pawl.StatusPaused {
				t.Errorf("run %s is %v", head.Run, head.Status)
			}
		}
		if _, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "late"}); err == nil {
			t.Error("a closed engine began a run")
		}
	}
}

// A heartbeat that overtakes the end of its run must not keep the run.
func TestHeartbeatBehindRelease(t *testing.T) {
	j, g := newTap(), newGate()
	e := engine.New(j, &engine.Options{Lease: 60 * time.Millisecond})
	agent := clerk(g, []pawl.Call{call("gate", 1)}, []pawl.Call{call("client", 1)})
	beat := make(chan struct{}, 100)
	var ending atomic.Bool
	j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
		if c.Epoch != 0 && c.TTL > 0 && !ending.Load() {
			beat <- struct{}{}
			time.Sleep(50 * time.Millisecond) // the run ends meanwhile
		}
		return take()
	})
	h := begin(t, e, agent)
	<-g.in
	<-beat
	ending.Store(true)
	g.out <- struct{}{}
	ends(t, h, pawl.StatusWaitingClientTool)
	time.Sleep(70 * time.Millisecond)
	for head, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil || !head.Lease.Until.IsZero() {
			t.Errorf("the run is held by %q until %v, %v", head.Lease.Owner, head.Lease.Until, err)
		}
	}
}

// A journal that does not answer holds up its run, and nobody who waits for it
// with a context; when it answers the run goes on.
func TestAppendBlocks(t *testing.T) {
	j, g := newTap(), newGate()
	e := engine.New(j, nil)
	agent := clerk(g, []pawl.Call{call("gate", 1)})
	block := make(chan struct{})
	j.on(func(b pawl.Batch, write func() error) error {
		if has(b, "tool.finished") {
			<-block
		}
		return write()
	})
	h := begin(t, e, agent)
	<-g.in
	g.out <- struct{}{}
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	if _, err := h.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting: %v", err)
	}
	must(t, e.Cancel(t.Context(), "r", "x", "enough"))
	close(block)
	ends(t, h, pawl.StatusCancelled)
	sound(t, e, j, agent, "r")
}
