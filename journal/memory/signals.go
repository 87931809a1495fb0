package memory

import (
	"bytes"
	"context"
	"iter"
	"sort"

	"github.com/pawl-run/pawl"
)

// An inbox stores signals: all of them in order of ID, and the same by run, since every owner looks
// for its own once a second. known has the signals by what makes them unique.
type inbox struct {
	all   []*pawl.Signal
	byRun map[string][]*pawl.Signal
	known map[signalKey]*pawl.Signal
	last  int64 // the last assigned ID
}

type signalKey struct {
	run     string
	kind    pawl.SignalKind
	request string
}

// Send stores a signal; see [pawl.Inbox].
func (j *Journal) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if err := ctx.Err(); err != nil {
		return pawl.Signal{}, err
	}
	if _, err := l.Kind.MarshalText(); err != nil {
		return pawl.Signal{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.run(l.Run); err != nil { // under the lock, so that the run is not removed in between
		return pawl.Signal{}, err
	}
	o := &j.inbox
	at := signalKey{l.Run, l.Kind, l.Request}
	if first, ok := o.known[at]; ok {
		if !bytes.Equal(first.Body, l.Body) {
			return pawl.Signal{}, &pawl.SignalConflictError{First: copyOf(first)}
		}
		return copyOf(first), nil
	}
	if o.known == nil {
		o.byRun, o.known = make(map[string][]*pawl.Signal), make(map[signalKey]*pawl.Signal)
	}
	o.last++
	l.ID = o.last
	l.Body = bytes.Clone(l.Body)
	o.all = append(o.all, &l)
	o.byRun[l.Run] = append(o.byRun[l.Run], &l)
	o.known[at] = &l
	return copyOf(&l), nil
}

// copyOf copies a signal, so that the caller may change it.
func copyOf(l *pawl.Signal) pawl.Signal {
	out := *l
	out.Body = bytes.Clone(l.Body)
	return out
}

// Signals yields signals in order of ID; see [pawl.Inbox].
func (j *Journal) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) {
		j.mu.Lock()
		signals := j.inbox.all
		if run != "" {
			signals = j.inbox.byRun[run]
		}
		j.mu.Unlock()
		from := sort.Search(len(signals), func(i int) bool { return signals[i].ID > after })
		for _, l := range signals[from:] {
			if err := ctx.Err(); err != nil {
				yield(pawl.Signal{}, err)
				return
			}
			if !yield(copyOf(l), nil) {
				return
			}
		}
	}
}
