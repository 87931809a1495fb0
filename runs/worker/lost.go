package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// mostLost is how many owners in a row a run may lose before it gets a result from
// a model or a tool. The run may be what ends them: it would end one server after
// the other.
const mostLost = 5

// Worthwhile returns why a run whose process ended is not to be resumed unasked; nil: it may be.
func Worthwhile(ctx context.Context, j pawl.Journal, run string) error {
	lost, imported, err := owners(ctx, j, run)
	switch {
	case err != nil:
		return err
	case imported:
		return errors.New("it was imported while it was running, and may still run where it was exported; if it does not, resume it yourself")
	case lost >= mostLost:
		return fmt.Errorf("its process ended %d times in a row without getting any further; find out why, then resume it yourself", lost)
	}
	return nil
}

// owners counts the owners that a run has had since it last got a result. Calls
// that are runs of their own get results while the run itself gets none. imported
// says that nobody has driven the run since it was imported.
func owners(ctx context.Context, j pawl.Journal, run string) (n int, imported bool, err error) {
	s := new(pawl.State)
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if err == nil {
			err = s.CheckNext(e)
		}
		if err != nil {
			return 0, false, err
		}
		s.Fold(e)
		switch ev := e.Event.(type) {
		case pawl.RunStarted, pawl.RunForked:
			n = 1
		case pawl.RunResumed:
			n, imported = n+1, false
		case pawl.ModelReplied, pawl.ToolFinished, pawl.Observed, pawl.Measured, pawl.RunPaused, pawl.RunStopped:
			n = 0
		case pawl.Noted:
			imported = imported || ev.Imported()
		}
	}
	for c := range s.Open() {
		if c.Child == "" || c.Phase != pawl.PhaseStarted && c.Phase != pawl.PhaseLost {
			continue
		}
		of, _, err := owners(ctx, j, c.Child)
		if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
			return 0, false, err
		}
		if err == nil {
			n = min(n, of)
		}
	}
	return n, imported, nil
}
