package client

import (
	"context"

	"github.com/pawl-run/pawl"
)

// Approve approves a call that waits for approval; the server then resumes the run. As
// with every signal: it is durable when Approve returns, repeating it is harmless, and a
// different one is a *Problem of status 409 that names the first. run is the run that has
// the call, which may be a child.
func (c *Client) Approve(ctx context.Context, run, call string, a Approve) (pawl.Result, error) {
	return c.say(ctx, run, call, "approve", a)
}

// Deny denies a call that waits for approval; see [Client.Approve].
func (c *Client) Deny(ctx context.Context, run, call string, d Deny) (pawl.Result, error) {
	return c.say(ctx, run, call, "deny", d)
}

// Answer answers the question of a call; see [Client.Approve].
func (c *Client) Answer(ctx context.Context, run, call string, a Answer) (pawl.Result, error) {
	return c.say(ctx, run, call, "answer", a)
}

// Submit returns the result of a call that the client runs; see [Client.Approve].
func (c *Client) Submit(ctx context.Context, run, call string, s Submit) (pawl.Result, error) {
	return c.say(ctx, run, call, "submit", s)
}

// Settle resolves an unknown outcome; see [Client.Approve].
func (c *Client) Settle(ctx context.Context, run, call string, s Settle) (pawl.Result, error) {
	return c.say(ctx, run, call, "settle", s)
}

func (c *Client) say(ctx context.Context, run, call, how string, body any) (pawl.Result, error) {
	k := post(body, "v1", "runs", run, "calls", call, how)
	k.again = true // a repeated signal has no effect
	return c.result(ctx, k)
}
