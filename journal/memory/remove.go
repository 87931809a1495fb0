package memory

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Remove deletes a run with its signals; see [pawl.Remover]. Concurrent readers continue with the
// old state.
func (j *Journal) Remove(ctx context.Context, id string, epoch uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := j.run(id)
	if err == nil {
		err = j.remove(id, r, epoch)
	}
	if err == nil {
		j.ledger.forget(id)
	}
	return err
}

func (j *Journal) remove(id string, r *run, epoch uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lease.Epoch != epoch {
		return shared.Fenced(id, epoch, r.lease.Epoch)
	}
	if !j.runs.CompareAndDelete(id, r) {
		return shared.Unknown(id)
	}
	// Calls that found the run earlier must not append to it now.
	r.gone = true
	j.order = slices.DeleteFunc(slices.Clone(j.order), func(o *run) bool { return o == r })
	j.inbox.clear(id)
	return nil
}

// clear removes a run's signals. Slices that were returned stay unchanged.
func (o *inbox) clear(run string) {
	signals := o.byRun[run]
	if len(signals) == 0 {
		return
	}
	delete(o.byRun, run)
	for _, l := range signals {
		delete(o.known, signalKey{l.Run, l.Kind, l.Request})
	}
	o.all = slices.DeleteFunc(slices.Clone(o.all), func(l *pawl.Signal) bool { return l.Run == run })
}

// RemoveBlobs deletes blobs; see [pawl.Remover].
func (j *Journal) RemoveBlobs(ctx context.Context, before time.Time, keep func(digest string) bool) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.mu.Lock()
	var old []string
	for digest, b := range j.blobs {
		if b.stored.Before(before) {
			old = append(old, digest)
		}
	}
	j.mu.Unlock()
	old = slices.DeleteFunc(old, keep) // keep may call this journal
	n := 0
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, digest := range old {
		if b, ok := j.blobs[digest]; ok && b.stored.Before(before) {
			delete(j.blobs, digest)
			n++
		}
	}
	return n, nil
}
