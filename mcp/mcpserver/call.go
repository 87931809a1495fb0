package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/web"
)

// runMeta is the key of the run's id in a result's metadata.
const runMeta = "pawl/run"

// call runs a tool for a client, or continues the waiting run of the same call.
func (s *Server) call(ctx context.Context, r *sdk.CallToolRequest, tool string) (*sdk.CallToolResult, error) {
	args := r.Params.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage(`{}`)
	}
	run, err := s.drive(ctx, r, s.calls[tool], key(tool, args), string(args))
	if err != nil {
		return failed(run.ID, err.Error()), nil
	}
	for c := range run.state.Calls() {
		switch {
		case c.Phase != pawl.PhaseAnswered:
		case c.Status != pawl.ToolOK:
			return failed(run.ID, untold(c)), nil
		default:
			return s.done(ctx, run, &c), nil
		}
	}
	return failed(run.ID, s.ended(ctx, run.result)), nil
}

// ask lets the agent work on a client's task.
func (s *Server) ask(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Input string `json:"input"`
	}
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil || strings.TrimSpace(in.Input) == "" {
		return failed("", "input: it must be a text that is not blank"), nil
	}
	run, err := s.drive(ctx, r, s.agent, key(s.agent.Name, r.Params.Arguments), in.Input)
	switch {
	case err != nil:
		return failed(run.ID, err.Error()), nil
	case run.result.Status != pawl.StatusSuccess:
		return failed(run.ID, s.ended(ctx, run.result)), nil
	}
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: run.result.Answer}}, Meta: sdk.Meta{runMeta: run.ID}}
	if len(run.result.Output) > 0 {
		out.StructuredContent = run.result.Output
	}
	return out, nil
}

// driven is a run and its result.
type driven struct {
	ID     string
	result pawl.Result
	state  *pawl.State
	again  bool // the call was made before
}

// drive begins a run, or resumes the one that waits with the same call, and drives it to its end. A
// run that waits is an error that says for what.
func (s *Server) drive(ctx context.Context, r *sdk.CallToolRequest, agent pawl.Agent, same, input string) (d driven, err error) {
	leave, ok := s.enter()
	if !ok {
		return d, errors.New("the server is closing")
	}
	defer leave()
	ctx = asked(ctx, r)
	life, suspend := context.WithCancelCause(s.life)
	defer suspend(nil)
	h, err := s.open(ctx, life, agent, same, input, &d)
	if err != nil {
		return d, err
	}
	if h != nil {
		d.ID = h.ID()
		reported := s.report(ctx, r, h)
		select {
		case <-h.Done():
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), context.Canceled) {
				suspend(errGone)
			} else if s.life.Err() == nil {
				err = s.engine.Cancel(context.WithoutCancel(ctx), d.ID, "mcp client", "the client cancelled the call")
			}
			if err != nil {
				return d, err
			}
		}
		if d.result, err = h.Wait(context.WithoutCancel(ctx)); err != nil {
			return d, err
		}
		if s.rests != nil {
			s.rests(d.result)
		}
		<-reported // no notifications after the answer
	}
	if d.again && d.result.Status.Ended() {
		if _, err := s.collect(context.WithoutCancel(ctx), d.ID); err != nil {
			return d, err
		}
	}
	s.mu.Lock()
	delete(s.waiting, same)
	if len(d.result.Pending) > 0 {
		s.waiting[same] = d.ID
	}
	s.mu.Unlock()
	if len(d.result.Pending) > 0 {
		return d, errors.New(s.waits(ctx, d.result))
	}
	if h != nil {
		d.state, err = engine.Load(context.WithoutCancel(ctx), s.journal, d.ID)
	}
	return d, err
}

// errGone is why a run is suspended when its client disconnects without cancelling the call.
var errGone = errors.New("the client has disconnected")

// asked returns ctx with the trace context of the calling client, from the metadata of its
// call or the header of its request.
func asked(ctx context.Context, r *sdk.CallToolRequest) context.Context {
	of := func(name string) string {
		if said, ok := r.Params.Meta[name].(string); ok {
			return said
		}
		if r.Extra != nil {
			return r.Extra.Header.Get(name)
		}
		return ""
	}
	return web.WithParent(ctx, web.ParseParent(of(web.ParentHeader), of(web.StateHeader)))
}

// open begins the run, or resumes the waiting run of the same call. Without a handle that
// run has ended or still waits, and d has its state. The run is driven until life ends.
func (s *Server) open(ctx, life context.Context, agent pawl.Agent, same, input string, d *driven) (*engine.Handle, error) {
	s.mu.Lock()
	waits, again := s.waiting[same]
	s.mu.Unlock()
	if again {
		var err error
		d.ID, d.again = waits, true
		if d.state, err = engine.Load(ctx, s.journal, waits); err != nil {
			return nil, err
		}
	} else if found, err := s.earlier(ctx, agent, same, d); err != nil {
		return nil, err
	} else if !found {
		return s.start(ctx, life, agent, same, input)
	}
	h, err := s.goOn(ctx, life, agent, d)
	elsewhere, changed := (*elsewhereError)(nil), (*engine.ChangedError)(nil)
	if !again && errors.As(err, &elsewhere) || errors.As(err, &changed) {
		*d = driven{} // the run belongs to another call, or to other conditions
		return s.start(ctx, life, agent, same, input)
	}
	return h, err
}

// start begins the run of a call.
func (s *Server) start(ctx, life context.Context, agent pawl.Agent, same, input string) (*engine.Handle, error) {
	labels := maps.Clone(agent.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.labels)
	labels[callLabel] = same[:shown]
	return s.engine.Start(web.WithParent(life, web.ParentFrom(ctx)), agent, input, &engine.StartOptions{Labels: labels})
}
