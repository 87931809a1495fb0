package engine

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// Replay folds a run's log and decides every recorded step of it again. It
// returns how many steps agree, and an error that names the first that does
// not. Nothing is called and nothing is written.
func (e *Engine) Replay(ctx context.Context, agent pawl.Agent, run string) (steps int, err error) {
	start, err := firstOf(ctx, e.journal, run)
	if err != nil {
		return 0, err
	}
	m, err := e.machineOf(stillDisabled(agent, start.Declaration), start.Declaration)
	if err != nil {
		return 0, err
	}
	p, err := e.past(ctx, run, start.Continues, cleaner{})
	if err != nil {
		return 0, err
	}
	return m.Replay(p.before(), Entries(ctx, e.journal, run, 1), func(source string) (pawl.Condition, error) {
		return stop.Parse(source, nil)
	})
}
