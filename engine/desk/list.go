package desk

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
)

// A Filter selects runs as they stand for whoever looks.
type Filter struct {
	Query    pawl.Query  // what the journal selects by; its Status is not looked at
	Status   pawl.Status // where they stand, Interrupted and Expired included; zero: anywhere
	Thread   string      // the conversation they are part of; empty: any
	Children bool        // child runs, too
	// Skip, unless nil, leaves out what it says of the head that the journal
	// keeps, before anything is read of the log.
	Skip func(pawl.Head) bool
}

// List yields the heads of the runs that a filter selects, newest first, with
// the status that [Standing] gives them. It reads the logs of those that wait.
func List(ctx context.Context, j pawl.Journal, f Filter) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		most := f.Query.Max
		q := f.Query
		q.Max = 0
		switch f.Status {
		case pawl.Interrupted:
			q.Status = pawl.Running
		case pawl.Expired: // any waiting one may be
			q.Status = 0
		default:
			q.Status = f.Status
		}
		n := 0
		for h, err := range j.List(ctx, q) {
			// claimed, never begun; or shown with its parent; or of another conversation
			if err == nil && (h.Seq == 0 || !f.Children && IsChild(h) || f.Thread != "" && h.Thread != f.Thread || f.Skip != nil && f.Skip(h)) {
				continue
			}
			if err == nil {
				h.Status, err = Standing(ctx, j, h)
			}
			if err != nil {
				yield(pawl.Head{}, err)
				return
			}
			if f.Status != 0 && h.Status != f.Status {
				continue
			}
			if n++; !yield(h, nil) || n == most {
				return
			}
		}
	}
}
