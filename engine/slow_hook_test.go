package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// stuckHook does not return from the entry of a type until it is let go of.
type stuckHook struct {
	typ  string
	free chan struct{}
	seen *seen
}

// seen is what a hook was asked about.
type seen struct {
	sync.Mutex
	types []string
}

func (s *seen) add(typ string) {
	s.Lock()
	defer s.Unlock()
	s.types = append(s.types, typ)
}

func (s *seen) last() string {
	s.Lock()
	defer s.Unlock()
	return s.types[len(s.types)-1]
}

func (stuckHook) Name() string { return "stuck" }

func (h stuckHook) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	h.seen.add(e.Type())
	if e.Type() == h.typ {
		<-h.free
		return engine.Direction{Cancel: true, Reason: "too late"}
	}
	return engine.Direction{}
}

// A hook that does not return is left behind: the run goes on without it, the
// log says so, and what the hook says later counts for nothing.
func TestHookThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var seen seen
		watched := 0
		other := hookFunc(func(*pawl.State, pawl.Entry) engine.Direction { watched++; return engine.Direction{} })
		agent := pawl.Agent{Name: "slow", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{
			fake{name: "look", effect: pawl.Read, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
				return pawl.Output{JSON: []byte(`1`)}, nil
			}},
		}}
		j := newTap()
		e := engine.New(j, &engine.Options{Hooks: []engine.Hook{stuckHook{"model.replied", free, &seen}, other}})
		began := time.Now()
		result, err := begin(t, e, agent).Wait(t.Context())
		if err != nil || result.Status != pawl.StatusSuccess {
			t.Fatalf("ended as %v: %v", result.Status, err)
		}
		if took := time.Since(began); took < 30*time.Second || took > 35*time.Second {
			t.Errorf("the run waited %v for its hook", took)
		}
		left := 0
		for entry := range entriesOf(t, j, "r") {
			if d, ok := entry.Event.(pawl.HookDirected); ok {
				left++
				if d.Hook != "stuck" || d.Direction != "left behind" {
					t.Errorf("%+v", d)
				}
			}
		}
		if left != 1 || seen.last() != "model.replied" || watched < 4 {
			t.Errorf("left behind %d times, last asked about %s, the other about %d", left, seen.last(), watched)
		}
		replays(t, e, agent, "r")
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A run that is cancelled does not wait for its hooks.
func TestHookDoesNotHoldACancelUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var seen seen
		e := engine.New(newTap(), &engine.Options{Hooks: []engine.Hook{stuckHook{"model.replied", free, &seen}}})
		h := begin(t, e, pawl.Agent{Name: "slow", Model: turns()})
		synctest.Wait()
		began := time.Now()
		must(t, e.Cancel(t.Context(), "r", "ada", "enough"))
		result, err := wait(t, h)
		if err != nil || result.Status != pawl.StatusCancelled || time.Since(began) > 2*time.Second {
			t.Errorf("ended as %v after %v: %v", result.Status, time.Since(began), err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
