// Package memory is a [pawl.Journal] in memory. Its runs are lost when the process
// ends. Use it for tests and for programs that never resume a run. It is not the
// memory of an agent; for that see tool.Memory.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// A Journal keeps logs, signals and blobs in memory until they are removed or the process
// ends. It implements [pawl.Journal], [pawl.Inbox], [pawl.Blobs] and [pawl.Remover]. Runs
// do not wait for each other.
type Journal struct {
	runs sync.Map // run id to *run; lookups take no lock
	logs journals.Bell

	queued journals.Bell

	mu    sync.Mutex
	order []*run // oldest first
	queue queue
	inbox inbox
	blobs map[string]blob
	rates map[string]journals.Buckets
	kept  map[string][]byte

	ledger ledger
}

var (
	_ pawl.Journal = (*Journal)(nil)
	_ pawl.Inbox   = (*Journal)(nil)
	_ pawl.Blobs   = (*Journal)(nil)
	_ pawl.Remover = (*Journal)(nil)
)

// New returns an empty journal.
func New() *Journal { return new(Journal) }

// A run is one log with its head and lease.
type run struct {
	mu    sync.Mutex
	log   []record
	head  pawl.Head
	lease pawl.Lease
	place journals.Place // in the queue, while the run is queued; the journal's lock guards it
	text  string         // that a search finds the run by; its words are computed then, as runs are more frequent
	gone  bool           // the run was removed
}

func (j *Journal) run(id string) (*run, error) {
	v, ok := j.runs.Load(id)
	if !ok {
		return nil, shared.Unknown(id)
	}
	return v.(*run), nil
}

// Claim acquires, renews or releases a lease; see [pawl.Claim].
func (j *Journal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if err := ctx.Err(); err != nil {
		return pawl.Lease{}, err
	}
	if c.Epoch == 0 && c.TTL <= 0 {
		return pawl.Lease{}, fmt.Errorf("run %s: a lease needs a time to live above zero", c.Run)
	}
	now := time.Now()
	if c.Epoch == 0 && c.New {
		return j.create(c, now)
	}
	r, err := j.run(c.Run)
	if err != nil {
		return pawl.Lease{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &r.lease
	switch {
	case r.gone:
		return pawl.Lease{}, shared.Unknown(c.Run)
	case c.Epoch == 0 && l.Until.After(now) && c.Over != l.Epoch:
		return pawl.Lease{}, &pawl.HeldError{Lease: *l}
	case c.Epoch == 0:
		l.Owner, l.Epoch, l.Until = c.Owner, l.Epoch+1, now.Add(c.TTL)
	case c.Epoch != l.Epoch:
		return pawl.Lease{}, shared.Fenced(c.Run, c.Epoch, l.Epoch)
	case c.TTL > 0:
		l.Until = now.Add(c.TTL)
	default:
		l.Owner, l.Until = "", time.Time{}
	}
	return *l, nil
}

func (j *Journal) create(c pawl.Claim, now time.Time) (pawl.Lease, error) {
	if c.Run == "" {
		return pawl.Lease{}, errors.New("a new run needs an id")
	}
	r := &run{
		head:  pawl.Head{Run: c.Run},
		lease: pawl.Lease{Run: c.Run, Owner: c.Owner, Epoch: 1, Until: now.Add(c.TTL)},
	}
	lease := r.lease
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.runs.LoadOrStore(c.Run, r); known {
		return pawl.Lease{}, fmt.Errorf("run %s: %w", c.Run, pawl.ErrRunExists)
	}
	j.order = append(j.order, r)
	return lease, nil
}

// Append adds a batch to a run's log; see [pawl.Journal]. An empty batch is an error.
func (j *Journal) Append(ctx context.Context, b pawl.Batch) error {
	if len(b.Records) == 0 {
		return fmt.Errorf("run %s: a batch needs at least one record", b.Run)
	}
	return j.AppendEntries(ctx, &b, nil)
}

// AppendEntries is Append for entries that are not encoded; the batch has no records. The
// entries must be normalised, see [pawl.Entry.Normalise], and the caller must not change
// what they refer to. AppendEntries may change the batch.
func (j *Journal) AppendEntries(ctx context.Context, b *pawl.Batch, entries []pawl.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := j.run(b.Run)
	if err != nil {
		return err
	}
	queued := b.Head.Status == pawl.StatusQueued
	if queued { // before anybody can take it
		j.mu.Lock()
		if r.now().Status != pawl.StatusQueued {
			r.place = j.queue.enter(&b.Head)
		}
		j.mu.Unlock()
	}
	if err := r.append(b, entries); err != nil {
		return err
	}
	j.logs.Ring(b.Run)
	if queued {
		j.queued.Ring("")
	}
	return nil
}

func (r *run) append(b *pawl.Batch, entries []pawl.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return shared.Unknown(b.Run)
	}
	if b.Epoch != r.lease.Epoch {
		return shared.Fenced(b.Run, b.Epoch, r.lease.Epoch)
	}
	if last := uint64(len(r.log)); b.After != last {
		return shared.Conflict(b.Run, last, b.After)
	}
	for _, data := range b.Records {
		r.log = append(r.log, record{what: bytes.Clone(data)})
	}
	for i := range entries {
		r.log = append(r.log, recordOf(&entries[i]))
	}
	r.setHead(&b.Head)
	if b.Text != "" {
		r.text = b.Text
	}
	return nil
}

// WatchLogs yields the ids of runs that have new entries until ctx ends. An id stands for
// all entries that came while the caller was busy. The empty id means that any run may have
// new entries: it comes first. No error is ever yielded.
func (j *Journal) WatchLogs(ctx context.Context) iter.Seq2[string, error] { return j.logs.Listen(ctx) }

// Read yields a run's records from seq on; see [pawl.Journal].
func (j *Journal) Read(ctx context.Context, id string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		r, err := j.run(id)
		if err != nil {
			yield(pawl.Row{}, err)
			return
		}
		r.mu.Lock()
		log := r.log // records never change
		r.mu.Unlock()
		for i := max(from, 1) - 1; i < uint64(len(log)); i++ {
			err := ctx.Err()
			var data []byte
			if err == nil {
				data, err = log[i].encoded(id, i+1)
			}
			if err != nil {
				yield(pawl.Row{}, err)
				return
			}
			if !yield(pawl.Row{Seq: i + 1, Data: data}, nil) {
				return
			}
		}
	}
}

// A record is an entry of a log, without the run and the seq, which are the log's.
type record struct {
	what     any   // a pawl.Event, encoded when it is read; or the bytes of the entry
	time     int64 // nanoseconds since 1970
	at, turn uint32
}

func recordOf(e *pawl.Entry) record {
	return record{e.Event, e.Time.UnixNano(), uint32(e.At), uint32(e.Iteration)}
}

// encoded returns the bytes of the record. They belong to the caller.
func (r *record) encoded(run string, seq uint64) ([]byte, error) {
	if data, ok := r.what.([]byte); ok {
		return bytes.Clone(data), nil
	}
	e := pawl.Entry{Run: run, Seq: seq, At: uint64(r.at), Time: time.Unix(0, r.time), Iteration: int(r.turn), Event: r.what.(pawl.Event)}
	return e.AppendJSON(nil)
}

// A blob is large data, with the time when it was last stored.
type blob struct {
	data   []byte
	stored time.Time
}

// PutBlob stores data under its digest; see [pawl.Blobs].
func (j *Journal) PutBlob(ctx context.Context, digest string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b, ok := j.blobs[digest]
	if !ok {
		b.data = bytes.Clone(data)
	}
	b.stored = time.Now()
	if j.blobs == nil {
		j.blobs = make(map[string]blob)
	}
	j.blobs[digest] = b
	return nil
}

// Blob returns a copy of stored data; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	b, ok := j.blobs[digest]
	j.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob)
	}
	return bytes.Clone(b.data), nil
}

// Reserve takes from the buckets of a rate; see engine.Limiter.
func (j *Journal) Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.rates[name]
	wait, taken := of.Take(time.Now(), requests, tokens, within)
	if taken {
		if j.rates == nil {
			j.rates = map[string]journals.Buckets{}
		}
		j.rates[name] = of
	}
	return wait, nil
}
