package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// stuck is a hook that does not return from a reply until the test closes free. It stores the type
// of the latest entry.
func stuck(free chan struct{}, last *atomic.Value) hookFunc {
	return func(_ *pawl.State, e pawl.Entry) engine.Direction {
		last.Store(e.Type())
		if e.Type() == "model.replied" {
			<-free
		}
		return engine.Direction{Cancel: e.Type() == "model.replied", Reason: "too late"}
	}
}

// A hook that does not return is left behind: the run goes on without it, the
// log says so, and what the hook says later counts for nothing.
func TestHookThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var last atomic.Value
		watched := 0
		other := hookFunc(func(*pawl.State, pawl.Entry) engine.Direction { watched++; return engine.Direction{} })
		agent := pawl.Agent{Name: "slow", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{seeing("look")}}
		j := newTap()
		e := engine.New(j, &engine.Options{Hooks: []engine.Hook{stuck(free, &last), other}})
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
				if d.Hook != "picky" || d.Direction != "left behind" {
					t.Errorf("%+v", d)
				}
			}
		}
		if left != 1 || last.Load() != "model.replied" || watched < 4 {
			t.Errorf("left behind %d times, last asked about %v, the other about %d", left, last.Load(), watched)
		}
		replays(t, e, agent, "r")
		must(t, e.Close())
	})
}

// A run that is cancelled does not wait for its hooks.
func TestHookDoesNotHoldACancelUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var last atomic.Value
		e := engine.New(newTap(), &engine.Options{Hooks: []engine.Hook{stuck(free, &last)}})
		h := begin(t, e, pawl.Agent{Name: "slow", Model: turns()})
		synctest.Wait()
		began := time.Now()
		must(t, e.Cancel(t.Context(), "r", "ada", "enough"))
		result, err := wait(t, h)
		if err != nil || result.Status != pawl.StatusCancelled || time.Since(began) > 2*time.Second {
			t.Errorf("ended as %v after %v: %v", result.Status, time.Since(began), err)
		}
		must(t, e.Close())
	})
}
