package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
)

// Agents lists the agents that can be started.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var out Agents
	err := c.do(ctx, get("v1", "agents"), &out)
	return out.Agents, err
}

// Start starts a run and returns as soon as it is recorded. The result so far includes the
// run's id. With an IdempotencyKey there is only one run however often Start is called,
// even if the first connection broke before its answer.
func (c *Client) Start(ctx context.Context, r StartRun) (pawl.Result, error) {
	return c.result(ctx, starting(r))
}

// StartAndWait is [Client.Start], but returns when the run has ended or waits. The run
// continues if the context ends or the connection breaks; with an IdempotencyKey the call
// can be repeated.
func (c *Client) StartAndWait(ctx context.Context, r StartRun) (pawl.Result, error) {
	k := starting(r)
	k.waits, k.query = true, url.Values{"wait": {"true"}}
	return c.result(ctx, k)
}

func starting(r StartRun) *call {
	k := post(r, "v1", "runs")
	k.files = r.Files
	k.again = r.IdempotencyKey != ""
	return k
}

// result sends a request that returns a run's result.
func (c *Client) result(ctx context.Context, k *call) (pawl.Result, error) {
	var out pawl.Result
	if err := c.do(ctx, k, &out); err != nil {
		return pawl.Result{}, err
	}
	return completed(out), nil
}

// completed restores the fields that the JSON of a result leaves out.
func completed(r pawl.Result) pawl.Result {
	r.Verdict = pawl.Verdict{Holds: r.Status.Ended(), Status: r.Status, Condition: r.Reason.Condition, Leaf: r.Reason.Leaf, Detail: r.Reason.Detail}
	return r
}

// A Query selects runs. Zero fields select everything.
type Query struct {
	Status   pawl.Status // including the derived ones, interrupted and expired
	Waiting  bool        // only runs that wait for somebody, whatever for
	Run      string      // the beginning of an id
	Agent    string
	Loop     string
	Labels   map[string]string // all of them must match
	Thread   string
	Search   string    // words in what people said in the run or in its answer, or beginnings of such words
	Since    time.Time // only runs created at this time or later
	Until    time.Time // only runs created before this time
	MinCost  float64   // only runs that cost at least so many dollars
	Children bool      // include child runs
	Brief    bool      // include the beginnings of input and answer, and what the run waits for
	Max      int       // zero: no limit
}

// runsAtOnce is the largest number of runs in a page.
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
	if q.Waiting {
		set("status", "waiting")
	}
	set("run", q.Run)
	set("agent", q.Agent)
	set("loop", q.Loop)
	set("thread", q.Thread)
	for key, value := range q.Labels {
		v.Add("label", key+"="+value)
	}
	set("q", q.Search)
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.MinCost > 0 {
		set("min_cost", strconv.FormatFloat(q.MinCost, 'f', -1, 64))
	}
	if q.Children {
		set("children", "true")
	}
	if q.Brief {
		set("brief", "true")
	}
	return v
}

// Runs lists runs, newest first. It fetches pages only as needed.
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

// Run returns a run's result so far. A run that the server does not know, or that the token
// may not see, is a *Problem of status 404.
func (c *Client) Run(ctx context.Context, run string) (pawl.Result, error) {
	return c.result(ctx, get("v1", "runs", run))
}

// Explain returns the report on a run: why it stopped, what it did, what it cost and what
// to do next. It has the fields of the report's JSON; for Markdown, pass [Client.Entries]
// to [explain.Of].
func (c *Client) Explain(ctx context.Context, run string) (explain.Report, error) {
	var out explain.Report
	if err := c.do(ctx, get("v1", "runs", run, "explain"), &out); err != nil {
		return explain.Report{}, err
	}
	out.Result.Result = completed(out.Result.Result)
	return out, nil
}

// Files lists the files of a run: those of its input, and those that its tools returned.
func (c *Client) Files(ctx context.Context, run string) ([]runs.File, error) {
	var out Files
	err := c.do(ctx, get("v1", "runs", run, "files"), &out)
	return out.Files, err
}

// File returns the data of a file of a run by its digest. What looks like a secret is taken out of a
// text. If the server does not have the file, the error is a *Problem and [pawl.ErrUnknownBlob].
func (c *Client) File(ctx context.Context, run, digest string) ([]byte, error) {
	var data []byte
	k := get("v1", "runs", run, "files", digest)
	k.waits = true // a file may take long
	err := c.do(ctx, k, &data)
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusNotFound {
		err = fmt.Errorf("%w: %w", pawl.ErrUnknownBlob, err)
	}
	return data, err
}

// Resume resumes a run that is suspended, ended without success, or lost its owner, and
// returns once it is driven.
func (c *Client) Resume(ctx context.Context, run string, r ResumeRun) (pawl.Result, error) {
	return c.result(ctx, post(r, "v1", "runs", run, "resume"))
}

// Say sends a message to a run that runs or waits. A suspended run reads it when it is resumed.
func (c *Client) Say(ctx context.Context, run, by, text string, o *engine.SayOptions) error {
	return c.do(ctx, post(SayRun{Text: text, After: o != nil && o.After, By: by}, "v1", "runs", run, "messages"), new(pawl.Result))
}

// Cancel requests a run's cancellation. A driven run ends within a second, or when the
// calls in progress have stopped.
func (c *Client) Cancel(ctx context.Context, run, by, reason string) error {
	return c.do(ctx, post(CancelRun{Reason: reason, By: by}, "v1", "runs", run, "cancel"), new(pawl.Result))
}

// Fork starts a new run that shares the log of another up to an entry, and returns the new
// one as soon as it is recorded.
func (c *Client) Fork(ctx context.Context, run string, r ForkRun) (pawl.Result, error) {
	return c.result(ctx, post(r, "v1", "runs", run, "fork"))
}

// Replay recomputes every recorded step of a run without calling anything. Differences are
// in the result, not in the error.
func (c *Client) Replay(ctx context.Context, run string) (Replayed, error) {
	var out Replayed
	err := c.do(ctx, get("v1", "runs", run, "replay"), &out)
	return out, err
}
