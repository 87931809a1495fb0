package client

import (
	"context"
	"net/url"
	"strconv"
)

// Request returns a request to a model, rebuilt from the log. seq is that of its
// model.called entry.
func (c *Client) Request(ctx context.Context, run string, seq uint64) (Request, error) {
	var out Request
	err := c.do(ctx, get("v1", "runs", run, "requests", strconv.FormatUint(seq, 10)), &out)
	return out, err
}

// Stop returns what can end a run, evaluated after an entry; zero: after the last one.
func (c *Client) Stop(ctx context.Context, run string, at uint64) (Stop, error) {
	k := get("v1", "runs", run, "stop")
	if at > 0 {
		k.query = url.Values{"at": {strconv.FormatUint(at, 10)}}
	}
	var out Stop
	err := c.do(ctx, k, &out)
	return out, err
}

// Stats counts runs and sums their cost over time, by agent or, with a key, by that label.
// An hour or a day (UTC) is one span. Of the query Agent, Loop, Labels, Since and Until count.
func (c *Client) Stats(ctx context.Context, q Query, label string, hourly bool) (Stats, error) {
	k := get("v1", "stats")
	k.query = q.values()
	if label != "" {
		k.query.Set("by", "label:"+label)
	}
	if hourly {
		k.query.Set("step", "hour")
	}
	var out Stats
	err := c.do(ctx, k, &out)
	return out, err
}

// Replay recomputes every recorded step of a run without calling anything. Differences are
// in the result, not in the error.
func (c *Client) Replay(ctx context.Context, run string) (Replayed, error) {
	var out Replayed
	err := c.do(ctx, get("v1", "runs", run, "replay"), &out)
	return out, err
}

// Children lists the child runs of a run, in order of their calls.
func (c *Client) Children(ctx context.Context, run string) ([]RunLine, error) {
	var out Runs
	err := c.do(ctx, get("v1", "runs", run, "children"), &out)
	return out.Runs, err
}
