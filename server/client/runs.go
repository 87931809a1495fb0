package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

// Agents lists what can be started.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var out Agents
	err := c.do(ctx, get("v1", "agents"), &out)
	return out.Agents, err
}

// Start starts a run and returns as soon as it is recorded. The result is what
// it has come to so far: its id is in it. Under an IdempotencyKey there is one
// run however often it is asked for, also when a connection broke before it was
// known what became of the first time.
func (c *Client) Start(ctx context.Context, r StartRun) (pawl.Result, error) {
	return c.result(ctx, starting(r))
}

// StartAndWait is [Client.Start] that returns when the run has ended or waits for
// somebody. The run goes on when the context ends, or the connection breaks; with
// an IdempotencyKey it can be asked for again.
func (c *Client) StartAndWait(ctx context.Context, r StartRun) (pawl.Result, error) {
	k := starting(r)
	k.waits, k.query = true, url.Values{"wait": {"true"}}
	return c.result(ctx, k)
}

func starting(r StartRun) *call {
	k := post(r, "v1", "runs")
	k.again = r.IdempotencyKey != ""
	return k
}

// result asks what answers with a run's result.
func (c *Client) result(ctx context.Context, k *call) (pawl.Result, error) {
	var out pawl.Result
	if err := c.do(ctx, k, &out); err != nil {
		return pawl.Result{}, err
	}
	return told(out), nil
}

// told fills in what the JSON of a result leaves out.
func told(r pawl.Result) pawl.Result {
	r.Verdict = pawl.Verdict{Holds: r.Status.Ended(), Status: r.Status, Condition: r.Reason.Condition, Leaf: r.Reason.Leaf, Detail: r.Reason.Detail}
	return r
}

// A Query selects runs. Zero fields select everything.
type Query struct {
	Status   pawl.Status // as whoever looks sees it: also interrupted and expired
	Agent    string
	Loop     string
	Labels   map[string]string // all of them must match
	Thread   string
	Children bool // child runs, too
	Max      int  // zero: no limit
}

// runsAtOnce is how many runs are asked for with one request at most.
const runsAtOnce = 200

func (q *Query) values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Status != 0 {
		set("status", q.Status.String())
	}
	set("agent", q.Agent)
	set("loop", q.Loop)
	set("thread", q.Thread)
	for key, value := range q.Labels {
		v.Add("label", key+"="+value)
	}
	if q.Children {
		set("children", "true")
	}
	return v
}

// Runs lists runs, newest first, page by page: what is not asked for any more
// is not fetched.
func (c *Client) Runs(ctx context.Context, q Query) iter.Seq2[RunLine, error] {
	return func(yield func(RunLine, error) bool) {
		k := get("v1", "runs")
		k.query = q.values()
		size := runsAtOnce
		if q.Max > 0 {
			size = min(size, q.Max)
		}
		k.query.Set("max", strconv.Itoa(size))
		n := 0
		for {
			var page Runs
			if err := c.do(ctx, k, &page); err != nil {
				yield(RunLine{}, err)
				return
			}
			for _, line := range page.Runs {
				if n++; !yield(line, nil) || n == q.Max {
					return
				}
			}
			if page.Next == "" || page.Next == k.query.Get("cursor") {
				return
			}
			k.query.Set("cursor", page.Next)
		}
	}
}

// Run is what a run has come to by now. A run that the server does not know, or
// that the token does not show, is a *Problem of status 404.
func (c *Client) Run(ctx context.Context, run string) (pawl.Result, error) {
	return c.result(ctx, get("v1", "runs", run))
}

// Explain is the report on a run: why it stopped, what it did, what it cost and
// what to do next. It has what the report's JSON has; for one that also writes
// itself as Markdown, give [Client.Entries] to [explain.Of].
func (c *Client) Explain(ctx context.Context, run string) (explain.Report, error) {
	var out explain.Report
	if err := c.do(ctx, get("v1", "runs", run, "explain"), &out); err != nil {
		return explain.Report{}, err
	}
	out.Result.Result = told(out.Result.Result)
	return out, nil
}

// Resume goes on with a run that is parked, ended without success, or lost its
// owner, and returns as soon as it does.
func (c *Client) Resume(ctx context.Context, run string, r ResumeRun) (pawl.Result, error) {
	return c.result(ctx, post(r, "v1", "runs", run, "resume"))
}

// Cancel asks a run to end. One that is being driven ends within a second, or
// when what is in flight has stopped: the result may not show it yet.
func (c *Client) Cancel(ctx context.Context, run string, r CancelRun) (pawl.Result, error) {
	return c.result(ctx, post(r, "v1", "runs", run, "cancel"))
}

// Fork begins a new run that shares the log of another up to an entry, and
// returns the new one as soon as it is recorded.
func (c *Client) Fork(ctx context.Context, run string, r ForkRun) (pawl.Result, error) {
	return c.result(ctx, post(r, "v1", "runs", run, "fork"))
}
