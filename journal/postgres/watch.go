package postgres

import (
	"context"
	"encoding/hex"
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl/internal/journals"
)

// WatchSignals yields the ids of runs that have new signals, from any process, soon after
// the signals are durable, until ctx ends or the journal is closed. The empty id means that
// any run may have new signals: it comes first, when listening has begun, and again
// whenever notifications may have been lost. A caller that reads all signals then, and a
// run's signals when the run is named, misses nothing as long as the database can be
// reached; a caller that must not miss signals meanwhile should also poll. Ids that come
// while the caller is busy are kept, each once. All watchers of a journal share one
// connection outside the pool. No error is ever yielded: a broken connection is replaced.
func (j *Journal) WatchSignals(ctx context.Context) iter.Seq2[string, error] {
	return j.signals.bell.Listen(ctx)
}

// WatchLogs is [Journal.WatchSignals] for entries. Notifications of entries follow their
// commit by some milliseconds and are not part of it, since commits with notifications wait
// for each other. So entries that a process appended just before it was killed are not
// announced.
func (j *Journal) WatchLogs(ctx context.Context) iter.Seq2[string, error] {
	return j.logs.bell.Listen(ctx)
}

// A hub passes notifications of one database channel to all watchers. It has a connection as long
// as there is a watcher.
type hub struct {
	channel string
	config  *pgx.ConnConfig
	bell    journals.Bell
	on      atomic.Bool // the listener is listening

	// Of the latest listener; the bell's lock guards them.
	stop context.CancelFunc
	gone chan struct{} // closed when it has ended
}

func newHub(config *pgx.ConnConfig, channel string) *hub {
	h := &hub{channel: channel, config: config}
	h.bell.First, h.bell.Ready = h.begin, h.on.Load
	return h
}

// begin starts a listener, which waits for the previous one to end, and returns the function that
// stops it.
func (h *hub) begin() (last func()) {
	ctx, stop := context.WithCancel(context.Background())
	before, gone := h.gone, make(chan struct{})
	h.stop, h.gone = stop, gone
	go func() {
		defer close(gone)
		if before != nil {
			<-before
		}
		h.listen(ctx)
	}()
	return stop
}

func (h *hub) close() {
	h.bell.Close()
	if h.stop != nil { // no other listener begins now
		h.stop()
		<-h.gone
	}
}

// listen keeps a connection for notifications until ctx ends.
func (h *hub) listen(ctx context.Context) {
	h.on.Store(false)
	for n := 0; ctx.Err() == nil; n++ {
		if h.listenOnce(ctx) {
			n = 0
		}
		h.on.Store(false)
		pause(ctx, n)
	}
}

// silence is how long the listener is idle before the connection is checked: one that was cut
// without notice would never deliver anything.
const silence = 30 * time.Second

// listenOnce listens on one connection, and reports whether it got as far as listening.
func (h *hub) listenOnce(ctx context.Context) (listened bool) {
	c, err := pgx.ConnectConfig(ctx, h.config.Copy())
	if err != nil {
		return false
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_ = c.Close(ctx)
	}()
	if _, err := c.Exec(ctx, `LISTEN "`+h.channel+`"`); err != nil { // no schema has a quote
		return false
	}
	h.on.Store(true)
	h.bell.Ring("")
	for {
		run, err := nextNotice(ctx, c)
		if err != nil {
			return true
		}
		if run != nil {
			h.bell.Ring(*run)
		}
	}
}

// nextNotice returns the run of the next notification; nil after a silence.
func nextNotice(ctx context.Context, c *pgx.Conn) (*string, error) {
	some, stop := context.WithTimeout(ctx, silence)
	defer stop()
	notice, err := c.WaitForNotification(some)
	if err == nil {
		run, err := hex.DecodeString(notice.Payload)
		if err != nil {
			run = nil // a notification of another program on our channel: check all runs
		}
		return new(string(run)), nil
	}
	if some.Err() == nil || ctx.Err() != nil || c.IsClosed() {
		return nil, err
	}
	some, stop = context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	return nil, c.Ping(some)
}

// payload is a run's id in a notification, which is text.
func payload(run string) string { return hex.EncodeToString([]byte(run)) }

// A notifier sends notifications of runs that have new entries, many at a time.
type notifier struct {
	j *Journal

	mu     sync.Mutex
	runs   map[string]bool
	queued bool        // one of them
	timer  *time.Timer // set while a notification is due
	closed bool
	giving sync.WaitGroup
}

// newsEvery is the delay of a notification, so that later ones go with it.
const newsEvery = 10 * time.Millisecond

func (n *notifier) about(run string, queued bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if n.runs == nil {
		n.runs = make(map[string]bool)
	}
	n.queued = n.queued || queued
	if n.runs[run] = true; n.timer == nil {
		n.giving.Add(1)
		n.timer = time.AfterFunc(newsEvery, func() {
			defer n.giving.Done()
			n.send()
		})
	}
}

// send sends all pending notifications. A failure is not reported: watchers find the entries by
// themselves, later.
func (n *notifier) send() {
	n.mu.Lock()
	runs, queued := n.runs, n.queued
	n.runs, n.queued, n.timer = nil, false, nil
	n.mu.Unlock()
	if len(runs) == 0 {
		return
	}
	words := make([]string, 0, len(runs))
	for run := range maps.Keys(runs) {
		words = append(words, payload(run))
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	c, err := n.j.pool.Acquire(ctx)
	if err != nil {
		return
	}
	defer c.Release()
	_, _ = c.Exec(ctx, `SELECT pg_notify($1, run) FROM unnest($2::text[]) AS run
		UNION ALL SELECT pg_notify($3, '') WHERE $4`, n.j.logs.channel, words, n.j.queue.channel, queued)
}

// close sends the last notifications and ends the sender.
func (n *notifier) close() {
	n.mu.Lock()
	n.closed = true
	if n.timer != nil && n.timer.Stop() {
		n.giving.Done()
	}
	n.mu.Unlock()
	n.giving.Wait()
	n.send()
}
