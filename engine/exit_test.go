package engine_test

import (
	"context"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// What ends its goroutine, as a failing assertion does, has failed at once: it
// does not hold its run until its time is over.
func TestGoexit(t *testing.T) {
	exit := fake{name: "exit", effect: pawl.Write, limit: time.Hour, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		runtime.Goexit()
		return pawl.Output{}, nil
	}}
	look := seeing("look")
	failing := exit
	failing.name, failing.effect = "fail", pawl.Read
	silent, chatty := true, true
	for name, agent := range map[string]pawl.Agent{
		"tool":     {Model: turns([]pawl.Call{call("exit", 1)}, []pawl.Call{call("look", 1)})},
		"siblings": {Model: turns([]pawl.Call{call("look", 1), call("fail", 1), call("look", 2)}, []pawl.Call{call("look", 1)})},
		"model": {Model: pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
			if silent {
				silent = false
				runtime.Goexit()
			}
			return turns([]pawl.Call{call("look", 1)}).(pawl.ModelFunc)(ctx, r)
		})},
		"stream": {Model: fickle{&chatty}},
		"observer": {Model: turns([]pawl.Call{call("look", 1)}), Observer: func(context.Context) (pawl.Observation, error) {
			runtime.Goexit()
			return pawl.Observation{}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				agent.Name, agent.Tools = "brave", []pawl.Tool{exit, failing, look}
				j := newTap()
				e := engine.New(j, &engine.Options{Backoff: func(int) time.Duration { return time.Millisecond }})
				begun := time.Now()
				ends(t, begin(t, e, agent), pawl.StatusSuccess)
				if took := time.Since(begun); took > time.Second {
					t.Errorf("it took %v", took)
				}
				s := loaded(t, j, "r")
				for c := range s.Calls() {
					if exits := c.Tool != "look"; exits && (c.Status != pawl.ToolFailed || !strings.Contains(c.Error, "Goexit")) || !exits && c.Status != pawl.ToolOK {
						t.Errorf("%s: %v, %q", c.Tool, c.Status, c.Error)
					}
				}
				sound(t, e, j, agent, "r")
				must(t, e.Close())
			})
		})
	}
}

// fickle ends its goroutine in the middle of its first reply.
type fickle struct{ first *bool }

func (f fickle) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if *f.first && yield(pawl.Chunk{Text: "so"}, nil) {
			*f.first = false
			runtime.Goexit()
		}
		streamer(1).Stream(ctx, r)(yield)
	}
}

// A loop that ends its goroutine has its run fail, and nobody waits for it for ever.
func TestGoexitWhileDeciding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quits := true
		agent := pawl.Agent{Name: "brave", Model: turns(), Loop: looping(func(s *pawl.State) pawl.Step {
			if quits {
				runtime.Goexit()
			}
			return pawl.ReAct{}.Next(s)
		})}
		j := newTap()
		e := engine.New(j, nil)
		res := ends(t, begin(t, e, agent), pawl.StatusFailed)
		if v := res.Verdict; v.Leaf != "panic" || !strings.Contains(v.Detail, "exit_test.go:") || !strings.Contains(v.Detail, "Goexit") {
			t.Errorf("the run ended with %v", v)
		}
		quits = false
		ends(t, resume(t, e, agent), pawl.StatusSuccess)
		sound(t, e, j, agent, "r")
	})
}
