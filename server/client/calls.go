package client

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Approve approves a call that waits for approval, as an engine does; the server then resumes
// the run. As with every signal: it is durable when Approve returns, repeating it is harmless,
// and a different one is a *Problem of status 409 that names the first. run is the run that has
// the call, which may be a child. by is recorded if the token has no name.
func (c *Client) Approve(ctx context.Context, run, call, by string, o *engine.ApproveOptions) error {
	o = cmp.Or(o, &engine.ApproveOptions{})
	return c.signal(ctx, run, call, "approve", Approve{Token: o.Token, Args: o.Args, Reach: o.Reach, By: by})
}

// Deny denies a call that waits for approval; see [Client.Approve].
func (c *Client) Deny(ctx context.Context, run, call, by, reason string, o *engine.DenyOptions) error {
	o = cmp.Or(o, &engine.DenyOptions{})
	return c.signal(ctx, run, call, "deny", Deny{Token: o.Token, Reason: reason, By: by})
}

// Answer answers the question of a call; see [Client.Approve].
func (c *Client) Answer(ctx context.Context, run, call, by, text string) error {
	return c.signal(ctx, run, call, "answer", Answer{Text: text, By: by})
}

// Submit returns the result of a call that the client runs; see [Client.Approve].
func (c *Client) Submit(ctx context.Context, run, call, by string, result json.RawMessage) error {
	return c.signal(ctx, run, call, "submit", Submit{Result: result, By: by})
}

// Resolve resolves an unknown outcome; see [Client.Approve].
func (c *Client) Resolve(ctx context.Context, run, call, by string, r engine.Resolution) error {
	result, happened := r.Result()
	return c.signal(ctx, run, call, "settle", Settle{Happened: result, DidNotHappen: !happened, By: by})
}

// CancelCall ends a call; see [Client.Approve].
func (c *Client) CancelCall(ctx context.Context, run, call, by, reason string) error {
	return c.signal(ctx, run, call, "cancel", CancelCall{Reason: reason, By: by})
}

func (c *Client) signal(ctx context.Context, run, call, how string, body any) error {
	k := post(body, "v1", "runs", run, "calls", call, how)
	k.again = true // a repeated signal has no effect
	return c.do(ctx, k, new(pawl.Result))
}
