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
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/server/client"
)

// remote is the runs of a server: a journal that can be read. All there is to
// know of a run is its log, so that commands which look read it as they read a
// database; what is to be done, the server is asked to do. What was read of a log
// is kept, since it does not change.
type remote struct {
	*client.Client

	mu   sync.Mutex
	logs map[string]*copied
}

// copied is a log as far as it was read.
type copied struct {
	mu    sync.Mutex
	rows  []pawl.Row
	state pawl.State // folded as far as somebody wanted it
}

// remotely marks a command that can also be asked of a server, but for some of
// its flags.
func remotely(c *cobra.Command, but ...string) *cobra.Command {
	c.Annotations = map[string]string{"server": strings.Join(but, " ")}
	return c
}

// localOnly refuses what is not for a server.
func (a *app) localOnly(c *cobra.Command, _ []string) error {
	if a.server == "" {
		return nil
	}
	but, ok := c.Annotations["server"]
	switch {
	case a.database != "":
		return &failure{misuse("runs are in the database of --database or at the server of --server; name one of them")}
	case !ok:
		return &failure{misuse("pawl %s works on the database or on files here, and not at a server; leave out --server", c.Name())}
	}
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		for name := range strings.FieldsSeq(but) {
			if f.Name == name && wrong == nil {
				wrong = &failure{misuse("--%s is for whoever drives a run, and with --server that is the server; leave it out", name)}
			}
		}
	})
	return wrong
}

// toServer makes the client of the server that --server names.
func (a *app) toServer() (*remote, error) {
	c, err := client.New(a.server, a.getenv("PAWL_TOKEN"), nil)
	if err != nil {
		return nil, misuse("--server: %w", err)
	}
	return &remote{Client: c, logs: map[string]*copied{}}, nil
}

// log is what is known of a run's log.
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
			// An entry may keep parts of what it is read from, and so may another reader.
			row.Data = append([]byte(nil), row.Data...)
			if !yield(row, nil) {
				return
			}
		}
	}
}

// unknownRun says what a server says of a run that is not there as journals do.
func unknownRun(err error) error {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusNotFound {
		return pawl.ErrUnknownRun
	}
	return err
}

// head is a run as it stands. That nobody drives it, only the server knows.
func (r *remote) head(ctx context.Context, run string) (pawl.Head, error) {
	seen, err := r.Run(ctx, run)
	if err != nil {
		return pawl.Head{}, unknownRun(err)
	}
	l := r.log(run)
	for e, err := range engine.Entries(ctx, r, run, l.state.Seq()+1) {
		if err == nil {
			err = pawl.CheckEntry(&l.state, e)
		}
		if err != nil {
			return pawl.Head{}, err
		}
		l.state.Fold(e)
	}
	h := l.state.Head()
	if h.Status == pawl.Running && seen.Status != pawl.Interrupted {
		h.Lease = pawl.Lease{Run: run, Owner: l.state.Owner(), Until: time.Now().Add(time.Hour)}
	}
	return h, nil
}

// List implements pawl.Journal: of the run that is named by its whole id the head
// has everything, of others what a list shows.
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

// lines lists runs as the server sees them.
func (r *remote) lines(ctx context.Context, f desk.Filter) iter.Seq2[client.RunLine, error] {
	return r.Runs(ctx, client.Query{
		Status: f.Status, Agent: f.Query.Agent, Loop: f.Query.Loop, Labels: f.Query.Labels, Thread: f.Query.Thread, Children: f.Children, Max: f.Query.Max,
	})
}

// news is [news] of a run at a server: its pauses and its end.
func (r *remote) news(ctx context.Context, run string) (wait func() error, stop func()) {
	listening, stop := context.WithCancel(ctx)
	word := make(chan error, 1)
	go func() {
		for e, err := range r.Follow(listening, run, 0) {
			switch e.Event.(type) {
			case nil, pawl.RunPaused, pawl.RunStopped:
				select {
				case word <- err:
				default:
				}
			}
		}
	}()
	return func() error {
		select {
		case err := <-word:
			return err
		case <-time.After(lookAtServer):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, stop
}

// lookAtServer is how often a server is asked for what it does not tell: that
// nobody drives a run any more.
const lookAtServer = 5 * time.Second

// errRemote says that a journal is none to be written.
var errRemote = errors.New("a server keeps these runs, and writes them by itself")

// Claim implements pawl.Journal.
func (r *remote) Claim(context.Context, pawl.Claim) (pawl.Lease, error) {
	return pawl.Lease{}, errRemote
}

// Append implements pawl.Journal.
func (r *remote) Append(context.Context, pawl.Batch) error { return errRemote }

// Post implements pawl.Mailbox.
func (r *remote) Post(context.Context, pawl.Letter) (pawl.Letter, error) {
	return pawl.Letter{}, errRemote
}

// Letters implements pawl.Mailbox.
func (r *remote) Letters(context.Context, string, int64) iter.Seq2[pawl.Letter, error] {
	return func(yield func(pawl.Letter, error) bool) { yield(pawl.Letter{}, errRemote) }
}

// Waits is what the server says that a run waits for: letters are there.
func (r *remote) Waits(ctx context.Context, run string) ([]pawl.Pending, error) {
	result, err := r.Run(ctx, run)
	return result.Pending, err
}

// PutBlob implements pawl.Blobs.
func (r *remote) PutBlob(context.Context, string, []byte) error { return errRemote }

// Blob implements pawl.Blobs.
func (r *remote) Blob(context.Context, string) ([]byte, error) { return nil, pawl.ErrUnknownBlob }

// Close implements io.Closer; there is nothing to be closed.
func (r *remote) Close() error { return nil }
