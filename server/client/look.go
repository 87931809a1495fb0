package client

import (
	"context"
	"net/url"
	"strconv"
)

// Request is what was sent to a model, rebuilt from the log. seq is that of its
// model.called entry.
func (c *Client) Request(ctx context.Context, run string, seq uint64) (Request, error) {
	var out Request
	err := c.do(ctx, get("v1", "runs", run, "requests", strconv.FormatUint(seq, 10)), &out)
	return out, err
}

// Stop is what can end a run, and what of it holds after an entry; zero: after
// the last one.
func (c *Client) Stop(ctx context.Context, run string, at uint64) (Stop, error) {
	k := get("v1", "runs", run, "stop")
	if at > 0 {
		k.query = url.Values{"at": {strconv.FormatUint(at, 10)}}
	}
	var out Stop
	err := c.do(ctx, k, &out)
	return out, err
}

// Replay has every recorded step of a run decided again. Nothing is called. Steps
// that do not agree are in what it returns, and no error.
func (c *Client) Replay(ctx context.Context, run string) (Replayed, error) {
	var out Replayed
	err := c.do(ctx, get("v1", "runs", run, "replay"), &out)
	return out, err
}

// Children lists the runs that a run's calls are, in order.
func (c *Client) Children(ctx context.Context, run string) ([]RunLine, error) {
	var out Runs
	err := c.do(ctx, get("v1", "runs", run, "children"), &out)
	return out.Runs, err
}
