package engine_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// a remote model is one behind an endpoint.
type remote struct {
	stream func(context.Context, pawl.Request, func(pawl.Chunk, error) bool)
}

func (remote) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "fake/model", Endpoint: "http://127.0.0.1:1"}
}

func (m remote) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) { m.stream(ctx, r, yield) }
}

// What one run is told about the rate of calls, all runs of the engine heed.
func TestRunsShareTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var calls []time.Duration // since the refusal
		begun := time.Now()
		agent := pawl.Agent{Name: "many", Model: remote{func(_ context.Context, _ pawl.Request, yield func(pawl.Chunk, error) bool) {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, time.Since(begun))
			if len(calls) == 1 {
				yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "slowly", RetryAfter: 10 * time.Second})
				return
			}
			reply := pawl.Say("done")
			yield(pawl.Chunk{Reply: &reply}, nil)
		}}}
		e := engine.New(memory.New(), nil)
		var handles []*engine.Handle
		for n := range 20 {
			h, err := e.Start(t.Context(), agent, "go", nil)
			must(t, err)
			if n == 0 {
				time.Sleep(time.Second) // it has been refused by now
			}
			handles = append(handles, h)
		}
		for _, h := range handles {
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != pawl.StatusSuccess {
				t.Errorf("%v, %v", res.Verdict, err)
			}
		}
		early, last := 0, map[time.Duration]int{}
		for _, at := range calls[1:] {
			if at < 10*time.Second {
				early++
			}
			last[at]++
		}
		if early > 0 {
			t.Errorf("%d calls came before the provider wanted any: %v", early, calls)
		}
		if len(last) < 10 {
			t.Errorf("%d calls came at %d moments; want them spread: %v", len(calls)-1, len(last), calls)
		}
		e.Close()
	})
}

// A run that has less time than its provider wants does not wait at the gate
// beyond it: it asks, hears so itself, and ends.
func TestGateBeyondTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := pawl.Agent{Name: "late", Limits: pawl.Limits{Time: 5 * time.Second}, Model: remote{func(_ context.Context, _ pawl.Request, yield func(pawl.Chunk, error) bool) {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "slowly", RetryAfter: time.Minute})
		}}}
		e := engine.New(memory.New(), nil)
		defer e.Close()
		for range 2 { // the second finds the gate closed
			begun := time.Now()
			h, err := e.Start(t.Context(), agent, "go", nil)
			must(t, err)
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != pawl.StatusExhausted || res.Usage.ModelCalls != 1 {
				t.Errorf("%v after %d calls, %v; want it exhausted after one", res.Verdict, res.Usage.ModelCalls, err)
			}
			if d := time.Since(begun); d > 5*time.Second {
				t.Errorf("it took %v", d)
			}
		}
	})
}
