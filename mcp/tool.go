package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
)

// remote is a tool of a server. It is immutable.
type remote struct {
	server *Server
	name   string // the server's name for the tool
	pin    string
	info   pawl.ToolInfo
}

func (s *Server) tool(d definition) *remote {
	t := &remote{server: s, name: d.name, pin: d.pin, info: pawl.ToolInfo{
		Name: named(s.name, d.name), Description: d.description, Input: d.input, Effect: pawl.Write,
		Timeout: s.opt.Timeout, MaxOutput: s.opt.MaxOutput, MaxParallel: s.opt.MaxParallel, External: true, Cage: s.cage, Version: "mcp " + d.pin,
	}}
	if t.info.Description == "" {
		t.info.Description = fmt.Sprintf("The tool %.60s of the MCP server %s, which does not describe it.", visible(d.name), s.name)
	}
	if !s.opt.Trusted {
		t.info.Trust, t.info.Foreign = pawl.Untrusted, true
	}
	switch {
	case s.opt.Trusted && d.readOnly:
		t.info.Effect = pawl.Read
	case s.opt.Trusted && d.idempotent:
		t.info.Effect = pawl.Idempotent
	}
	return t
}

// Info returns the declaration.
func (t *remote) Info() pawl.ToolInfo { return t.info }

// leaving is how long a cancelled call may take to return before its connection is closed.
const leaving = 300 * time.Millisecond

// Grace is how long Run may take after its context ended.
func (t *remote) Grace() time.Duration { return leaving + patience + grace + time.Second }

// keyMeta is the metadata key under which a server finds the idempotency key of a call.
const keyMeta = "pawl/idempotency-key"

// Run calls the tool.
func (t *remote) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	args := inv.Args
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	in, args, leave, err := t.server.enter(ctx, args)
	if err != nil {
		return pawl.Output{}, err
	}
	defer leave()
	params := &sdk.CallToolParams{Name: t.name, Arguments: args, Meta: sdk.Meta{keyMeta: inv.Key}}
	if p := web.ParentFrom(ctx); p.ID != "" { // as in the conventions for MCP
		params.Meta[web.ParentHeader] = p.ID
		if p.State != "" {
			params.Meta[web.StateHeader] = p.State
		}
	}
	d := &dialogue{token: rand.Text(), server: t.server.name, answers: inv.Answers}
	d.report = func(fraction float64, text string) { process.Progress(ctx, fraction, text) }
	params.SetProgressToken(d.token)
	for {
		result, err := t.request(ctx, in, params, d)
		switch {
		case err != nil:
			return pawl.Output{}, err
		case d.ask != nil: // the server has heard that the question was dismissed
			return pawl.Output{}, d.ask
		case !result.NeedsInput():
			return output(result)
		}
		if params.InputResponses, err = d.respond(result.InputRequests); err != nil {
			return pawl.Output{}, err
		}
		params.RequestState = result.RequestState
	}
}

// request makes one call, twice if its connection was lost before it took place.
func (t *remote) request(ctx context.Context, in *session, params *sdk.CallToolParams, d *dialogue) (*sdk.CallToolResult, error) {
	for try := 1; ; try++ {
		l, pins, err := t.server.link(ctx, in)
		if err != nil {
			return nil, &retry.NotRunError{Err: err}
		}
		if err := t.permitted(pins); err != nil {
			return nil, err
		}
		// The SDK modifies the parameters.
		again := *params
		again.Meta = maps.Clone(params.Meta)
		hangUp := l.begin(d)
		result, refused, err := l.call(ctx, &again)
		hangUp()
		switch lost := (*lostError)(nil); {
		case err == nil:
			return result, nil
		case ctx.Err() != nil && refused:
			return nil, &retry.NotRunError{Err: context.Cause(ctx)}
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.As(err, &lost):
			return nil, cmp.Or(d.ask, err)
		case try == 1 && (refused || t.info.Effect != pawl.Write):
			continue
		case refused:
			return nil, &retry.NotRunError{Err: t.server.wrong(err)}
		case t.info.Effect == pawl.Write:
			return nil, &retry.UnknownError{Err: t.server.wrong(err)}
		default:
			return nil, t.server.wrong(err)
		}
	}
}

// permitted reports whether the tool is still the approved one.
func (t *remote) permitted(pins map[string]string) error {
	switch pin, there := pins[t.name]; {
	case !there:
		return fmt.Errorf("the MCP server %s no longer has the tool %s; go on without it", t.server.name, t.name)
	case pin != t.pin:
		return fmt.Errorf("the definition of %s has changed since this run began, so it is disabled until a person has looked at it and resumed the run with --allow-change; go on without it", t.info.Name)
	}
	return nil
}

// lostError is a call whose connection failed.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// call makes one call. If it fails, refused says that it certainly did not take place.
func (l *link) call(ctx context.Context, params *sdk.CallToolParams) (result *sdk.CallToolResult, refused bool, err error) {
	ctx, fate := withFate(ctx)
	type answer struct {
		result *sdk.CallToolResult
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := l.session.CallTool(ctx, params)
		done <- answer{r, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-l.gone:
		select { // the answer may have arrived just before the end
		case a = <-done:
		case <-time.After(leaving):
			a.err = sdk.ErrConnectionClosed
		}
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(leaving):
			l.drop() // it does not even accept the cancellation
		}
		return nil, !fate.sent.Load(), context.Cause(ctx)
	}
	if a.err == nil {
		return a.result, false, nil
	}
	if said, ok := errors.AsType[*jsonrpc.Error](a.err); ok && !local(said.Code) && !errors.Is(a.err, sdk.ErrConnectionClosed) && fate.sent.Load() {
		return nil, false, fmt.Errorf("the server refused the call: %s", visible(said.Message))
	}
	err = &lostError{and(l.line.why(), a.err)}
	l.drop() // nothing is sent from here on
	return nil, !fate.sent.Load() || errors.Is(a.err, sdk.ErrSessionMissing), err
}

// local reports whether the SDK uses an error's code for failures on this side: the
// connection is closing at one end or the other, or the transport has failed. The names are
// in the SDK's internal/jsonrpc2.
func local(code int64) bool { return code == -32003 || code == -32004 || code == -32005 }
