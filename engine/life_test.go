package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// job is a tool that does what a function does.
type job struct {
	info pawl.ToolInfo
	do   func(ctx context.Context, inv pawl.Invocation) (string, error)
}

func (j job) Info() pawl.ToolInfo {
	i := j.info
	i.Input = json.RawMessage(`{"type":"object","additionalProperties":true}`)
	return i
}

func (j job) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	text, err := j.do(ctx, inv)
	raw, _ := json.Marshal(text) // a Go string always marshals
	return pawl.Output{JSON: raw}, err
}

// add is the plainest of tools.
type add struct{}

func (add) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "add", Description: "Add.", Effect: pawl.Read,
		Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}
}

func (add) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var a struct{ A, B int }
	err := json.Unmarshal(inv.Args, &a)
	return pawl.Output{JSON: fmt.Appendf(nil, "%d", a.A+a.B)}, err
}

// says is a model that gives these replies, by the number of its turns so far.
func says(replies ...pawl.Reply) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn >= len(replies) {
			return pawl.Say("done"), nil
		}
		reply := replies[turn]
		reply.Parts = slices.Clone(reply.Parts)
		return reply, nil
	})
}

func calls(tool string, n int) pawl.Reply {
	list := make([]pawl.Call, n)
	for i := range list {
		list[i] = pawl.Call{Tool: tool, Args: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	return pawl.Do(list...)
}

func dozing(d time.Duration, effect pawl.Effect) pawl.Tool {
	return job{pawl.ToolInfo{Name: "sleep", Effect: effect}, func(ctx context.Context, _ pawl.Invocation) (string, error) {
		select {
		case <-time.After(d):
			return "slept", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
}

// bubble runs a test on a clock of its own, and waits for the attendants.
func bubble(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(time.Minute)
	})
}

func start(t *testing.T, e *engine.Engine, a pawl.Agent) *engine.Handle {
	t.Helper()
	run, err := e.Start(t.Context(), a, "go", &engine.StartOptions{ID: "run"})
	must(t, err)
	return run
}

// spoken is a model that streams pieces, a second apart.
type spoken []pawl.Chunk

func (s spoken) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for _, piece := range s {
			time.Sleep(time.Second)
			if !yield(piece, nil) {
				return
			}
		}
		reply := pawl.Say("Done.")
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// talker says so many words at once, unless it is out of order.
type talker struct {
	words int
	out   bool
}

func (c *talker) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if c.out {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "out of order"})
			return
		}
		var said strings.Builder
		for i := range c.words {
			word := fmt.Sprint(i, " ")
			said.WriteString(word)
			if !yield(pawl.Chunk{Text: word}, nil) {
				return
			}
		}
		reply := pawl.Say(said.String())
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// TestWatchFromTheBeginning: with Watch, the first who ranges over the entries of a
// run that is started, resumed or forked gets all that was streamed, even after the
// run; without it, nothing is kept for anybody.
func TestWatchFromTheBeginning(t *testing.T) {
	model := &talker{words: 20_000}
	agent := pawl.Agent{Name: "a", Model: model}
	for _, watch := range []bool{true, false} {
		e := engine.New(memory.New(), nil)
		for _, c := range []struct {
			name string
			do   func() (*engine.Handle, error)
		}{
			{"start", func() (*engine.Handle, error) {
				return e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r", Watch: watch})
			}},
			{"fork", func() (*engine.Handle, error) {
				return e.Fork(t.Context(), agent, "r", 1, &engine.ForkOptions{Watch: watch})
			}},
			{"resume", func() (*engine.Handle, error) {
				model.out = true
				run := start(t, e, agent)
				ends(t, run, pawl.StatusFailed)
				model.out = false
				return e.Resume(t.Context(), agent, run.ID(), &engine.ResumeOptions{Watch: watch})
			}},
		} {
			t.Run(fmt.Sprint(c.name, " ", watch), func(t *testing.T) {
				run, err := c.do()
				must(t, err)
				ends(t, run, pawl.StatusSuccess)
				for first := range 2 {
					var heard strings.Builder
					for entry, err := range run.Entries(t.Context()) {
						must(t, err)
						switch ev := entry.Event.(type) {
						case pawl.ModelDelta:
							heard.WriteString(ev.Text)
						case pawl.ModelReplied:
							if all := watch && first == 0; all && heard.String() != ev.Reply.Text() || !all && heard.Len() > 0 {
								t.Errorf("range %d heard %d bytes of %d", first, heard.Len(), len(ev.Reply.Text()))
							}
						}
					}
				}
			})
		}
	}
}

// TestPiecesArriveAtOnce: text, thinking and the names of calls reach a watcher when the model writes them.
func TestPiecesArriveAtOnce(t *testing.T) { // Promises: D9.
	bubble(t, func(t *testing.T) {
		begun, got := time.Now(), ""
		model := spoken{{Thinking: "hm"}, {Text: "Let me see."}, {Call: "look"}, {Text: "Done."}}
		for entry, err := range start(t, engine.New(memory.New(), nil), pawl.Agent{Name: "a", Model: model}).Entries(t.Context()) {
			must(t, err)
			if d, ok := entry.Event.(pawl.ModelDelta); ok {
				got += fmt.Sprint(time.Since(begun), " ", d.Thinking, d.Text, d.Tool, "; ")
			}
		}
		if want := "1s hm; 2s Let me see.; 3s look; 4s Done.; "; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestBreakingOff: who stops watching, or waits no longer, does not stop the run.
func TestBreakingOff(t *testing.T) { // Promises: D9.
	bubble(t, func(t *testing.T) {
		run := start(t, engine.New(memory.New(), nil), pawl.Agent{Name: "a", Model: spoken{{Text: "one "}, {Text: "two"}}})
		for range run.Entries(t.Context()) {
			break
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range run.Entries(ctx) {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if _, err := run.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting ended with %v", err)
		}
		ends(t, run, pawl.StatusSuccess)
	})
}

// TestNothingIsLeft: no goroutine outlives its run by more than a look at the
// mail, except for tools and models that ignore that they are to end.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		e := engine.New(memory.New(), nil)
		a := pawl.Agent{Name: "a", Model: says(calls("sleep", 5)), Tools: []pawl.Tool{dozing(time.Millisecond, pawl.Read)}}
		run, err := e.Start(t.Context(), a, "go", nil)
		must(t, err)
		for range run.Entries(t.Context()) {
			break
		}
		ends(t, run, pawl.StatusSuccess)
	}
	for range 300 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines became %d:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// A lease outlasts a short pause of its process, however short it is meant to be.
func TestShortLease(t *testing.T) {
	j := memory.New()
	quick := pawl.Agent{Name: "quick", Model: pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		for h := range j.List(ctx, pawl.Query{Run: r.Run}) {
			if d := h.Lease.Until.Sub(h.Created); d < 40*time.Millisecond {
				t.Errorf("the run is leased for %v", d)
			}
		}
		return pawl.Say("Done."), nil
	})}
	h, err := engine.New(j, &engine.Options{Lease: 1}).Start(t.Context(), quick, "Go.", nil)
	must(t, err)
	ended(t, h)
}
