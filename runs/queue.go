package runs

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
)

// A Queue is a journal that hands out queued runs. The journals of this module are Queues.
//
// A run is queued when an append gives its head the status queued, and no longer when a
// later append gives it another. Runs of a higher priority, the whole number in the label
// priority, go first; without one it is 0. Runs of one priority whose label tenant differs
// are in different lanes, which take turns, however many runs each has; so do runs of
// different agents. Runs of one lane go in the order in which they were queued.
type Queue interface {
	// Take takes the leases of at most t.Max queued runs that have no live owner, as
	// pawl.Journal's Claim does, and returns their heads, with their leases, in the order
	// in which they should be driven. Two callers never get the same run. It waits for no
	// other caller for longer than one commit takes.
	Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error)
	// Queued yields the ids of the queued runs in the order in which a caller that takes
	// runs of all agents gets them.
	Queued(ctx context.Context) iter.Seq2[string, error]
	// Taken yields the heads of the queued runs that have a live owner: it has taken them and
	// not resumed them yet.
	Taken(ctx context.Context) iter.Seq2[pawl.Head, error]
}

// Positions finds the positions of queued runs. It reads the queue once, at the first call of
// Of.
type Positions struct {
	Journal pawl.Journal

	of map[string]int
}

// Of returns the position of a run in the queue, from 1; zero: the run is not queued, or the
// journal is not a [Queue].
func (p *Positions) Of(ctx context.Context, h pawl.Head) (int, error) {
	q, ok := p.Journal.(Queue)
	if h.Status != pawl.StatusQueued || !ok {
		return 0, nil
	}
	if p.of == nil {
		of := map[string]int{}
		for run, err := range q.Queued(ctx) {
			if err != nil {
				return 0, err
			}
			of[run] = len(of) + 1
		}
		p.of = of
	}
	return p.of[h.Run], nil
}
