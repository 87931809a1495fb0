package client

import (
	"context"

	"github.com/pawl-run/pawl"
)

// Approve lets a held call run; the server then goes on with the run. As with
// all that is said to a run: it is durable when this returns, saying the same
// again is harmless, and saying something else is a *Problem of status 409 that
// names the first. The run is the one that has the call, which may be a child.
func (c *Client) Approve(ctx context.Context, run, call string, a Approve) (pawl.Result, error) {
	return c.say(ctx, run, call, "approve", a)
}

// Deny refuses a held call; see [Client.Approve].
func (c *Client) Deny(ctx context.Context, run, call string, d Deny) (pawl.Result, error) {
	return c.say(ctx, run, call, "deny", d)
}

// Answer answers the question of a call; see [Client.Approve].
func (c *Client) Answer(ctx context.Context, run, call string, a Answer) (pawl.Result, error) {
	return c.say(ctx, run, call, "answer", a)
}

// Submit hands in the result of a call that the client runs; see [Client.Approve].
func (c *Client) Submit(ctx context.Context, run, call string, s Submit) (pawl.Result, error) {
	return c.say(ctx, run, call, "submit", s)
}

// Settle settles a doubt; see [Client.Approve].
func (c *Client) Settle(ctx context.Context, run, call string, s Settle) (pawl.Result, error) {
	return c.say(ctx, run, call, "settle", s)
}

func (c *Client) say(ctx context.Context, run, call, how string, body any) (pawl.Result, error) {
	k := post(body, "v1", "runs", run, "calls", call, how)
	k.again = true // a letter that comes twice is one
	return c.result(ctx, k)
}
