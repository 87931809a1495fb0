package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A Journal is the runs of a server as a [pawl.Journal] that can only be read. A log describes its
// run fully, so what reads a journal, such as engine.Load and package runs, also reads the runs of
// a server. Entries never change, so a Journal keeps those it has read. It is safe for concurrent
// use.
type Journal struct {
	*Client

	mu   sync.Mutex
	logs map[string]*readLog
}

// A readLog is a log as far as it was read.
type readLog struct {
	mu    sync.Mutex
	rows  []pawl.Row
	state pawl.State // folded as far as a caller needed it
}

// Journal returns the runs of the server as a journal.
func (c *Client) Journal() *Journal { return &Journal{Client: c, logs: map[string]*readLog{}} }

func (j *Journal) log(run string) *readLog {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.logs[run]
	if l == nil {
		l = &readLog{}
		j.logs[run] = l
	}
	return l
}

// Read implements pawl.Journal.
func (j *Journal) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		l := j.log(run)
		l.mu.Lock()
		rows := l.rows
		for row, err := range j.Rows(ctx, run, uint64(len(rows))) {
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
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusNotFound {
		return pawl.ErrUnknownRun
	}
	return err
}

// head returns a run's current head. Only the server knows that a run has no owner.
func (j *Journal) head(ctx context.Context, run string) (pawl.Head, error) {
	seen, err := j.Run(ctx, run)
	if err != nil {
		return pawl.Head{}, unknownRun(err)
	}
	l := j.log(run)
	for e, err := range engine.Entries(ctx, j, run, l.state.Seq()+1) {
		if err == nil {
			err = l.state.Internals().CheckNext(e)
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

// List implements pawl.Journal. The run that the query names by its full id comes first, with a
// complete head. The heads of other runs have what a list shows.
func (j *Journal) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		if q.Run != "" {
			h, err := j.head(ctx, q.Run)
			unknown := errors.Is(err, pawl.ErrUnknownRun)
			if !unknown && (!yield(h, err) || err != nil) {
				return
			}
		}
		of := Query{Run: q.Run, Status: q.Status, Agent: q.Agent, Loop: q.Loop, Thread: q.Thread, Labels: q.Labels, Children: strings.Contains(q.Run, ".")}
		for line, err := range j.Runs(ctx, of) {
			if err == nil && line.Run == q.Run {
				continue // it came first
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

// WatchLog yields the id of a run whenever its log has grown, and once when the run has ended.
func (j *Journal) WatchLog(ctx context.Context, run string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		l := j.log(run)
		l.mu.Lock()
		after := uint64(len(l.rows))
		l.mu.Unlock()
		for e, err := range j.Follow(ctx, run, after) {
			if (err != nil || e.Seq > 0) && !yield(run, err) {
				return
			}
		}
		yield(run, nil)
	}
}

// Changes returns a channel that gets a token when the log of a run may have grown, until ctx ends.
// Look at the log every now and then as well: a notification is lost if its sender dies, and a
// journal may not notify at all.
func Changes(ctx context.Context, j pawl.Journal, run string) <-chan struct{} {
	var news iter.Seq2[string, error]
	switch j := j.(type) {
	case interface {
		WatchLogs(ctx context.Context) iter.Seq2[string, error]
	}:
		news = j.WatchLogs(ctx)
	case *Journal:
		news = j.WatchLog(ctx, run)
	default:
		return nil
	}
	word := make(chan struct{}, 1)
	go func() {
		for about, err := range news {
			if err != nil {
				return // looking now and then is enough
			}
			if about == run || about == "" {
				select {
				case word <- struct{}{}:
				default:
				}
			}
		}
	}()
	return word
}

// Waits returns what a run waits for. The server also knows which requests are answered.
func (j *Journal) Waits(ctx context.Context, run string) ([]pawl.Pending, error) {
	r, err := j.Run(ctx, run)
	return r.Pending, err
}

// errReadOnly is the error of every write.
var errReadOnly = errors.New("the runs of a server can only be read here; the server writes them")

// Claim implements pawl.Journal.
func (j *Journal) Claim(context.Context, pawl.Claim) (pawl.Lease, error) {
	return pawl.Lease{}, errReadOnly
}

// Append implements pawl.Journal.
func (j *Journal) Append(context.Context, pawl.Batch) error { return errReadOnly }
