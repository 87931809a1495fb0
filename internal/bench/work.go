package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// adding is the tool of most work: it adds two numbers.
type adding struct{}

func (adding) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "add", Description: "Add two numbers.", Effect: pawl.Read, Input: json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}
}

func (adding) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	out, err := sum(inv.Args)
	return pawl.Output{JSON: out}, err
}

func sum(args []byte) ([]byte, error) {
	var in struct{ A, B int }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%d", in.A+in.B), nil
}

var errHistory = errors.New("the history did not come along")

// counting calls add with new arguments on each of n turns and then answers. It
// checks that each request has the whole history.
func counting(n int) pawl.ModelFunc {
	return func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := len(r.Messages) / 2
		if len(r.Messages) != 2*turn+1 {
			return pawl.Reply{}, errHistory
		}
		if turn == n {
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
		}
		return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "add", Args: fmt.Appendf(nil, `{"a":%d,"b":1}`, turn)}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
	}
}

// replying is an agent whose model says something n times, the last time to answer.
func replying(n int) pawl.Agent {
	return agent(pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		stop := pawl.StopPause
		if len(r.Messages) >= n {
			stop = pawl.StopEnd
		}
		return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Stop: stop, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
	}), adding{})
}

func counter(n int) pawl.Agent { return agent(counting(n), adding{}) }

func agent(m pawl.Model, tools ...pawl.Tool) pawl.Agent {
	return pawl.Agent{Name: "bench", Model: m, Tools: tools, Limits: pawl.Limits{Iterations: 10_000, Tokens: 1 << 40}}
}

// floor is a minimal loop: append to a slice, look the tool up, decode its
// arguments.
func floor(ctx context.Context, model pawl.ModelFunc) error {
	tools := map[string]func([]byte) ([]byte, error){"add": sum}
	r := pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "go"}}}}}
	for {
		reply, err := model(ctx, r)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, pawl.Message{Role: pawl.RoleAssistant, Parts: reply.Parts})
		var results []pawl.Part
		for _, p := range reply.Parts {
			call, ok := p.(pawl.Call)
			if !ok {
				continue
			}
			out, err := tools[call.Tool](call.Args)
			if err != nil {
				return err
			}
			results = append(results, pawl.ToolResult{Call: call.ID, Content: out})
		}
		if results == nil {
			return nil
		}
		r.Messages = append(r.Messages, pawl.Message{Role: pawl.RoleUser, Parts: results})
	}
}

// slow is a model that takes 20 ms.
func slow(m pawl.ModelFunc) pawl.ModelFunc {
	return func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		time.Sleep(20 * time.Millisecond)
		return m(ctx, r)
	}
}

// streaming streams the given number of words before each reply.
type streaming struct {
	chunks int
	then   pawl.ModelFunc
}

func (m streaming) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for range m.chunks {
			if !yield(pawl.Chunk{Text: "word "}, nil) {
				return
			}
		}
		reply, err := m.then(ctx, r)
		yield(pawl.Chunk{Reply: &reply}, err)
	}
}

// keep is the minimal work with a stream: keep its text.
func (m streaming) keep(ctx context.Context, r pawl.Request) (reply pawl.Reply, err error) {
	var text []byte
	for chunk, err := range m.Stream(ctx, r) {
		if err != nil {
			return reply, err
		}
		if text = append(text, chunk.Text...); chunk.Reply != nil {
			reply = *chunk.Reply
		}
	}
	return reply, nil
}

// waiting is a tool that takes a while.
type waiting time.Duration

func (waiting) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "wait", Description: "Wait.", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (w waiting) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	time.Sleep(time.Duration(w))
	return pawl.Output{JSON: json.RawMessage("1")}, nil
}

// batch returns an agent whose first reply has n calls of a tool that takes a
// while.
func batch(n int, takes time.Duration) pawl.Agent {
	calls := make([]pawl.Call, n)
	for i := range calls {
		calls[i] = pawl.Call{Tool: "wait", Args: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	return agent(pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 1 {
			return pawl.Say("done"), nil
		}
		return pawl.Do(calls...), nil
	}), waiting(takes))
}

// times repeats some work.
func times(n int, work func() error) func() error {
	return func() error {
		for range n {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	}
}

// run drives a run on a journal until it ends or waits.
func (b *bench) run(j pawl.Journal, a pawl.Agent, id string, want pawl.Status) error {
	h, err := engine.New(j, nil).Start(b.ctx, a, "go", &engine.StartOptions{ID: id})
	if err != nil {
		return err
	}
	return b.wait(h, want)
}

// started is a run of a prepared agent on an engine, to its end.
func (b *bench) started(e *engine.Engine, p *engine.Prepared) func() error {
	return func() error {
		h, err := p.Start(b.ctx, e, "go", nil)
		if err != nil {
			return err
		}
		return b.wait(h, pawl.StatusSuccess)
	}
}

func (b *bench) wait(h *engine.Handle, want pawl.Status) error {
	result, err := h.Wait(b.ctx)
	return ended(result, want, err)
}

func ended(r pawl.Result, want pawl.Status, err error) error {
	if err == nil && r.Status != want {
		err = fmt.Errorf("a run is %v, not %v: %w", r.Status, want, r.Verdict)
	}
	return err
}

// prepare prepares an agent for many runs.
func (b *bench) prepare(a pawl.Agent) (p *engine.Prepared) {
	b.try(func() (err error) {
		p, err = engine.Prepare(a)
		return err
	})
	return p
}

// whole is a run in memory, to its end.
func (b *bench) whole(a pawl.Agent) func() error {
	p := b.prepare(a)
	return func() error {
		result, err := p.Run(b.ctx, "go")
		return ended(result, pawl.StatusSuccess, err)
	}
}

// bare is a run of the minimal loop.
func (b *bench) bare(m pawl.ModelFunc) func() error {
	return func() error { return floor(b.ctx, m) }
}
