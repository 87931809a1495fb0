package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"github.com/pawl-run/pawl"
)

// A Handle watches a run and waits for it: one that this engine drives, or one that
// was found under its key and has another owner. It is safe for concurrent use.
type Handle struct {
	*life
	found bool
	early atomic.Pointer[watcher] // from before the first step; nil: not asked for, or taken
}

// life is one ownership of a run, for its handles.
type life struct {
	id     string
	engine *Engine
	driver *driver // nil: this engine does not drive the run
	done   chan struct{}
	result pawl.Result
	err    error
}

// Live returns a handle on a run that this engine drives now, children of others
// included; nil: it drives no such run.
func (e *Engine) Live(run string) *Handle {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.live[run]
	if s == nil || s.life == nil {
		return nil
	}
	return &Handle{life: s.life}
}

// ID is the run's id.
func (r *Handle) ID() string { return r.id }

// Found reports whether the run was there already when it was to be started
// under a key.
func (r *Handle) Found() bool { return r.found }

// Done is closed when the run has ended or is suspended.
func (r *Handle) Done() <-chan struct{} { return r.done }

// Wait waits until the run has ended or is suspended, and returns the result. The
// error says that the journal failed, that another owner took the run over, or that
// ctx ended first.
func (r *Handle) Wait(ctx context.Context) (pawl.Result, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		select {
		case <-r.done: // a result that is there is not lost to a context that ended as well
		default:
			return pawl.Result{}, ctx.Err()
		}
	}
	return r.result, r.err
}

// Entries yields the run's entries from the first, follows the run while it
// lives, and ends with it. Pieces of replies being made come in between, as
// entries without a Seq. Breaking off stops watching, not the run. The
// sequence may be ranged over again and by many.
//
// Pieces are in no journal: a range gets those that are streamed while it lasts.
// With StartOptions.Watch, the first range also gets those from before it. Pieces
// that follow each other may be joined. A watcher that is too far behind the model,
// by thousands of pieces, loses the oldest; it never loses a logged entry.
func (r *Handle) Entries(ctx context.Context) iter.Seq2[pawl.Entry, error] {
	if r.driver == nil {
		return r.distant(ctx)
	}
	return r.Follow(ctx, 1)
}

// Follow is [Handle.Entries] from seq on, of a run this engine drives. Of any
// other it yields nothing.
func (r *Handle) Follow(ctx context.Context, from uint64) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		if r.driver == nil {
			return
		}
		watch := r.early.Swap(nil)
		if watch == nil {
			watch = r.driver.rec.feed.watch()
		}
		defer r.driver.rec.feed.unwatch(watch)
		next := max(from, 1)
		var spare []piece
		for {
			news, end, last, taken := watch.take(spare)
			spare = taken
			pieces := func(before uint64) bool { // of the calls logged before that entry
				for len(taken) > 0 && taken[0].live.At < before {
					p := &taken[0]
					if taken = taken[1:]; !yield(p.entry(), nil) {
						return false
					}
				}
				return true
			}
			if news {
				for entry, err := range Entries(ctx, r.engine.journal, r.id, next) {
					if err == nil && entry.Seq > last && !end {
						break
					}
					if err == nil && !pieces(entry.Seq) || !yield(entry, err) || err != nil {
						return
					}
					next = entry.Seq + 1
				}
			}
			if !pieces(math.MaxUint64) {
				return
			}
			if end {
				return
			}
			select {
			case <-watch.wake:
			case <-ctx.Done():
				yield(pawl.Entry{}, ctx.Err())
				return
			}
		}
	}
}

// Entries yields a run's entries as far as they go now, from seq on. Every
// entry is checked against its place in the log.
func Entries(ctx context.Context, j pawl.Journal, run string, from uint64) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for row, err := range j.Read(ctx, run, from) {
			if err != nil {
				yield(pawl.Entry{}, fmt.Errorf("read run %s: %w", run, err))
				return
			}
			entry, err := pawl.DecodeEntry(row.Data)
			if err == nil && (entry.Seq != row.Seq || entry.Run != run) {
				err = fmt.Errorf("the journal keeps entry %d of run %s in its place", entry.Seq, entry.Run)
			}
			if err != nil {
				yield(pawl.Entry{}, fmt.Errorf("run %s, entry %d: %w", run, row.Seq, err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Load folds a run's log as far as it goes.
func Load(ctx context.Context, j pawl.Journal, run string) (*pawl.State, error) {
	s := new(pawl.State)
	for entry, err := range entriesFor(ctx, j, run, s) {
		if err != nil {
			return s, err
		}
		s.Fold(entry)
	}
	return s, nil
}

// entriesFor yields the entries of a run from the first. Each is checked against the
// state, which the caller folds it into.
func entriesFor(ctx context.Context, j pawl.Journal, run string, s *pawl.State) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for entry, err := range Entries(ctx, j, run, 1) {
			if err == nil {
				err = s.CheckNext(entry)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}
