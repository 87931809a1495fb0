package cli

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// remote is the runs of a server as a read-only journal. A run is fully described by
// its log, so commands that read work on it as on a database; other commands send
// requests to the server. Entries never change, so those read are cached.
type remote struct {
	*client.Client

	mu   sync.Mutex
	logs map[string]*copied
}

// copied is a log as far as it was read.
type copied struct {
	mu    sync.Mutex
	rows  []pawl.Row
	state pawl.State // folded as far as a caller needed it
}

// remotely marks a command that also works with --server, except for the flags but.
func remotely(c *cobra.Command, but ...string) *cobra.Command {
	c.Annotations = map[string]string{"server": strings.Join(but, " ")}
	return c
}

// localOnly refuses --server for commands and flags that do not support it.
func (env *environment) localOnly(c *cobra.Command, _ []string) error {
	if env.server == "" {
		return nil
	}
	but, ok := c.Annotations["server"]
	switch {
	case env.database != "":
		return &failure{misuse("--database and --server exclude each other; give one of them")}
	case !ok:
		return &failure{misuse("pawl %s works on the database or on local files; leave out --server", c.Name())}
	}
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		for name := range strings.FieldsSeq(but) {
			if f.Name == name && wrong == nil {
				wrong = &failure{misuse("--%s has no effect with --server, which drives the run; leave it out", name)}
			}
		}
	})
	return wrong
}

// toServer makes the client for the server of --server.
func (env *environment) toServer() (*remote, error) {
	c, err := client.New(env.server, env.getenv("PAWL_TOKEN"), nil)
	if err != nil {
		return nil, misuse("--server: %w", err)
	}
	return &remote{Client: c, logs: map[string]*copied{}}, nil
}

// log returns the cached part of a run's log.
func (r *remote) log(run string) *copied {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.logs[run]
	if l == nil {
		l = &copied{}
		r.logs[run] = l
	}
	return l
}

// Read implements pawl.Journal.
func (r *remote) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		l := r.log(run)
		l.mu.Lock()
		rows := l.rows
		for row, err := range r.Rows(ctx, run, uint64(len(rows))) {
			if err != nil {
				l.mu.Unlock()
				yield(pawl.Row{}, unknownRun(err))
				return
			}
			rows = append(rows, row)
		}
		l.rows = rows
		l.mu.Unlock()
		for _, row := range rows[min(max(from, 1)-1, uint64(len(rows))):] {
			// An entry may retain parts of its row, and so may another reader.
			row.Data = append([]byte(nil), row.Data...)
			if !yield(row, nil) {
				return
			}
		}
	}
}

// unknownRun turns the server's error for an unknown run into the journals' error.
func unknownRun(err error) error {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusNotFound {
		return pawl.ErrUnknownRun
	}
	return err
}

// head returns a run's current head. Only the server knows that a run has no owner.
func (r *remote) head(ctx context.Context, run string) (pawl.Head, error) {
	seen, err := r.Run(ctx, run)
	if err != nil {
		return pawl.Head{}, unknownRun(err)
	}
	l := r.log(run)
	for e, err := range engine.Entries(ctx, r, run, l.state.Seq()+1) {
		if err == nil {
			err = l.state.CheckNext(e)
		}
		if err != nil {
			return pawl.Head{}, err
		}
		l.state.Fold(e)
	}
	h := l.state.Head()
	if h.Status == pawl.StatusRunning && seen.Status != pawl.StatusInterrupted {
		h.Lease = pawl.Lease{Run: run, Owner: l.state.Owner(), Until: time.Now().Add(time.Hour)}
	}
	return h, nil
}

// List implements pawl.Journal: the run named by its full id has a complete head, other
// runs have what a list shows.
func (r *remote) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		if q.Run != "" {
			h, err := r.head(ctx, q.Run)
			if !errors.Is(err, pawl.ErrUnknownRun) && !yield(h, err) || err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
				return
			}
		}
		of := client.Query{Status: q.Status, Agent: q.Agent, Loop: q.Loop, Thread: q.Thread, Labels: q.Labels, Children: strings.Contains(q.Run, ".")}
		for line, err := range r.Runs(ctx, of) {
			if err == nil && (!strings.HasPrefix(line.Run, q.Run) || line.Run == q.Run) {
				continue
			}
			h := pawl.Head{
				Run: line.Run, Agent: line.Agent, Status: line.Status, Seq: 1, Iterations: line.Iterations,
				Labels: line.Labels, Created: line.CreatedAt,
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// lines lists runs as the server reports them.
func (r *remote) lines(ctx context.Context, f runs.Filter) iter.Seq2[client.RunLine, error] {
	return r.Runs(ctx, client.Query{
		Status: f.Status, Waiting: f.Waiting, Agent: f.Query.Agent, Loop: f.Query.Loop, Labels: f.Query.Labels, Thread: f.Query.Thread, Search: f.Search, Since: f.Query.Since, Until: f.Query.Until, Children: f.Children, Max: f.Query.Max,
	})
}

// errRemote is the error of every write.
var errRemote = errors.New("runs of a server can only be read here; the server writes them")

// Claim implements pawl.Journal.
func (r *remote) Claim(context.Context, pawl.Claim) (pawl.Lease, error) {
	return pawl.Lease{}, errRemote
}

// Append implements pawl.Journal.
func (r *remote) Append(context.Context, pawl.Batch) error { return errRemote }

// Send implements pawl.Inbox.
func (r *remote) Send(context.Context, pawl.Signal) (pawl.Signal, error) {
	return pawl.Signal{}, errRemote
}

// Signals implements pawl.Inbox.
func (r *remote) Signals(context.Context, string, int64) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) { yield(pawl.Signal{}, errRemote) }
}

// Waits returns what the server says that a run waits for; signals are stored there.
func (r *remote) Waits(ctx context.Context, run string) ([]pawl.Pending, error) {
	result, err := r.Run(ctx, run)
	return result.Pending, err
}

// PutBlob implements pawl.Blobs.
func (r *remote) PutBlob(context.Context, string, []byte) error { return errRemote }

// Blob implements pawl.Blobs.
func (r *remote) Blob(context.Context, string) ([]byte, error) { return nil, pawl.ErrUnknownBlob }

// Close implements io.Closer; it does nothing.
func (r *remote) Close() error { return nil }
