package memory

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// setHead replaces the head. The run and the seq are those of the log, not of the caller.
// Labels are copied only when they change, which is rare.
func (r *run) setHead(h *pawl.Head) {
	if maps.Equal(h.Labels, r.head.Labels) {
		h.Labels = r.head.Labels
	} else {
		h.Labels = maps.Clone(h.Labels)
	}
	h.Run, h.Seq, h.Lease = r.lease.Run, uint64(len(r.log)), pawl.Lease{}
	r.head = *h
}

// List yields the heads of runs, the last claimed first; see [pawl.Journal].
func (j *Journal) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return j.Search(ctx, "", q)
}

// Search is [Journal.List] for the runs in whose text each of the given words occurs or
// begins a word, whatever its case. It looks at every run.
func (j *Journal) Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error] {
	sought := journals.Words(words)
	return func(yield func(pawl.Head, error) bool) {
		j.mu.Lock()
		runs := j.order[:len(j.order):len(j.order)]
		j.mu.Unlock()
		if q.Before != "" {
			behind, err := j.run(q.Before)
			if err != nil {
				yield(pawl.Head{}, err)
				return
			}
			runs = runs[:max(slices.Index(runs, behind), 0)]
		}
		n := 0
		for _, r := range slices.Backward(runs) {
			if err := ctx.Err(); err != nil {
				yield(pawl.Head{}, err)
				return
			}
			h, ok := r.match(q, sought)
			if !ok {
				continue
			}
			if !yield(h, nil) {
				return
			}
			if n++; n == q.Max {
				return
			}
		}
	}
}

func (r *run) match(q pawl.Query, sought []string) (pawl.Head, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &r.head
	switch {
	case r.gone,
		!q.Since.IsZero() && h.Created.Before(q.Since),
		!q.Until.IsZero() && !h.Created.Before(q.Until),
		!strings.HasPrefix(h.Run, q.Run),
		q.Status != 0 && h.Status != q.Status,
		q.Agent != "" && h.Agent != q.Agent,
		q.Loop != "" && h.Loop != q.Loop,
		q.Thread != "" && h.Thread != q.Thread,
		len(sought) > 0 && !journals.WordsMatch(journals.Words(h.Run+" "+h.Agent+" "+r.text), sought),
		!q.Due.IsZero() && (h.WakeAt.IsZero() || h.WakeAt.After(q.Due)) && (h.Status != pawl.StatusRunning || r.lease.Until.After(time.Now())),
		!shared.HasLabels(h.Labels, q.Labels):
		return pawl.Head{}, false
	}
	return r.copied(), true
}

// copied is the head for somebody else, for a caller that holds the lock.
func (r *run) copied() pawl.Head {
	h := r.head
	h.Labels, h.Lease = maps.Clone(h.Labels), r.lease
	return h
}
