package runs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-run/pawl"
)

// A Filter selects runs by their effective status; see [EffectiveStatus].
type Filter struct {
	Query    pawl.Query  // selects by what the journal knows; its Status is ignored
	Status   pawl.Status // the effective status; zero: any
	Waiting  bool        // runs that wait for somebody, in any waiting status; Status must then be zero
	Children bool        // also lists child runs and memories; memories are always in a list of the agent memory
	Search   string      // words, or beginnings of words, in a run's id, agent, what people said in it, or its answer
	// After are the ids of the last runs of the previous page of this list, in its order: the
	// list continues after the last of them that still exists, whatever its status is now.
	After []string
	// Skip, unless nil, leaves out the runs for whose head it returns true. It gets the head as
	// the journal keeps it, before the log is read.
	Skip func(pawl.Head) bool
}

// A Searcher is a journal that finds runs by their text; see [pawl.Batch]. The journals
// of this module are Searchers.
type Searcher interface {
	// Search is List for the runs whose text contains each of the given words, or words that
	// begin with them. Case does not matter. Words consist of letters, marks and digits.
	// Without words, Search selects all runs.
	Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error]
}

// ErrNoSearch says that a journal is not a [Searcher].
var ErrNoSearch = errors.New("this journal cannot search the text of runs")

// ErrGone says that a list cannot continue, because all runs in Filter.After have been deleted.
var ErrGone = errors.New("the runs after which the list should continue have been deleted; start the list again")

// List yields the heads of the runs that a filter selects, newest first, with
// the status that [EffectiveStatus] gives them. It reads the logs of those that wait.
func List(ctx context.Context, j pawl.Journal, f Filter) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		from, err := f.from(ctx, j)
		if err != nil {
			yield(pawl.Head{}, err)
			return
		}
		n, q := 0, f.Query
		q.Max, q.Status, q.Before = 0, f.kept(), from
		list := j.List
		if f.Search != "" {
			s, ok := j.(Searcher)
			if !ok {
				yield(pawl.Head{}, ErrNoSearch)
				return
			}
			list = func(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
				return s.Search(ctx, f.Search, q)
			}
		}
		for h, err := range whole(ctx, list, q) {
			begins := false
			if err == nil {
				begins, err = f.begins(ctx, j, h)
			}
			if begins {
				h.Thread = h.Run
			}
			switch {
			case err != nil:
			case !f.selects(h):
				continue
			default:
				h.Status, err = EffectiveStatus(ctx, j, h)
			}
			if err != nil {
				yield(pawl.Head{}, err)
				return
			}
			if f.Status != 0 && h.Status != f.Status || f.Waiting && !h.Status.Waiting() {
				continue
			}
			if n++; !yield(h, nil) || n == f.Query.Max {
				return
			}
		}
	}
}

// whole adds to what list yields for a query the run that began its thread by handing over, which
// says itself that it is in none.
func whole(ctx context.Context, list func(context.Context, pawl.Query) iter.Seq2[pawl.Head, error], q pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		for h, err := range list(ctx, q) {
			if !yield(h, err) {
				return
			}
		}
		if q.Thread == "" {
			return
		}
		for h, err := range list(ctx, pawl.Query{Run: q.Thread, Before: q.Before}) {
			if (err != nil || h.Run == q.Thread && h.Thread == "") && !yield(h, err) {
				return
			}
		}
	}
}

// begins reports whether a run began the thread of the filter by handing over.
func (f *Filter) begins(ctx context.Context, j pawl.Journal, h pawl.Head) (bool, error) {
	if f.Query.Thread == "" || h.Run != f.Query.Thread || h.Thread != "" {
		return false, nil
	}
	_, from, err := NextLeg(ctx, j, h)
	return from != nil, err
}

// from is the run that the list begins behind; empty: it begins with the newest.
func (f *Filter) from(ctx context.Context, j pawl.Journal) (_ string, gone error) {
	for _, run := range slices.Backward(f.After) {
		if _, err := Head(ctx, j, run); !errors.Is(err, pawl.ErrUnknownRun) {
			return run, err
		}
		gone = ErrGone
	}
	return "", gone
}

// kept is the status that a journal keeps of runs that stand where they are
// wanted; zero: it may be any.
func (f *Filter) kept() pawl.Status {
	switch f.Status {
	case pawl.StatusInterrupted:
		return pawl.StatusRunning
	case pawl.StatusExpired: // any waiting one may be
		return 0
	}
	return f.Status
}

// selects reports whether a run may be one of the list's, by what its head says.
func (f *Filter) selects(h pawl.Head) bool {
	switch kept := f.kept(); {
	case h.Seq == 0, !f.Children && (IsChild(h) || f.Query.Agent == "" && IsMemory(h)): // claimed, never begun; or shown with its parent
		return false
	case f.Query.Thread != "" && h.Thread != f.Query.Thread, f.Query.Agent != "" && h.Agent != f.Query.Agent, f.Query.Loop != "" && h.Loop != f.Query.Loop:
		return false
	case !f.Query.Since.IsZero() && h.Created.Before(f.Query.Since), !f.Query.Until.IsZero() && !h.Created.Before(f.Query.Until):
		return false
	case kept != 0 && h.Status != kept, (f.Waiting || f.Status == pawl.StatusExpired) && !h.Status.Waiting():
		return false
	}
	return HasLabels(h, f.Query.Labels) && (f.Skip == nil || !f.Skip(h))
}

// SetStatus selects by the name of a status. The name waiting selects every status in which a
// run waits for somebody.
func (f *Filter) SetStatus(text string) error {
	if f.Waiting = text == "waiting"; f.Waiting {
		return nil
	}
	if err := f.Status.UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("%w, or waiting for each that waits for somebody", err)
	}
	return nil
}
