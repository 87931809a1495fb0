package runs

import (
	"context"

	"github.com/pawl-run/pawl"
)

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
