package engine

import (
	"fmt"

	"github.com/pawl-run/pawl"
)

// A SpentError says that a run was not resumed or forked because it has used up the given
// limits already and would have ended at once.
type SpentError struct {
	Run  string
	Leaf string // the leaf that holds
	Used string // what is used up
	Stop bool   // the leaf holds with any limits, so it is of the stop condition
}

// Error names what is used up and the remedy.
func (e *SpentError) Error() string {
	if e.Stop {
		return fmt.Sprintf("run %s would end at once whatever its limits: its stop condition %s holds (%s); replace the stop condition as well", e.Run, e.Leaf, e.Used)
	}
	return fmt.Sprintf("run %s would end at once with these limits: %s (%s); raise that limit further", e.Run, e.Leaf, e.Used)
}

// spent returns an error if a run that continues with the given limits would end at once.
func spent(r *recorder, run string, resumed pawl.RunResumed, limits pawl.Limits) error {
	verdict, ends := foresee(r, resumed, limits)
	if !ends {
		return nil
	}
	more := pawl.Limits{Iterations: 10_000, Tokens: 1 << 60, Time: 1 << 60, Rounds: 1 << 30}
	if r.state.Limits().Merge(limits).Cost > 0 {
		more.Cost = 1 << 60
	}
	_, always := foresee(r, resumed, limits.Merge(more))
	return &SpentError{run, verdict.Leaf, verdict.Detail, always}
}

// foresee returns how a run that continues with the given limits would end before it does
// anything, if the world is unchanged; false: it would do something. It asks the machine
// about a state that is not recorded.
func foresee(r *recorder, resumed pawl.RunResumed, limits pawl.Limits) (v pawl.Verdict, ends bool) {
	defer func() {
		if recover() != nil { // the agent's code panicked, and will again when the run continues
			v, ends = pawl.Verdict{}, false
		}
	}()
	state := r.state.Clone()
	fold := func(events ...pawl.Event) {
		for _, e := range events {
			state.Fold(pawl.Entry{Run: r.lease.Run, Seq: state.Seq() + 1, At: state.Seq(), Time: state.Time(), Iteration: state.Iteration(), Event: e})
		}
	}
	fold(resumed, pawl.RunExtended{Limits: limits})
	const most = 100 // there are only a few records
	for range most {
		switch step := r.machine.Decide(state).(type) {
		case pawl.Observe:
			fold(pawl.Observed{Text: state.Seen()})
			if value, measured := state.Metric(); measured {
				fold(pawl.Measured{Value: value, Open: state.StillOpen()})
			}
		case pawl.Record:
			fold(step.Events...)
		case pawl.Think:
			if step.Purpose != pawl.PurposeFinal {
				return pawl.Verdict{}, false
			}
			fold(r.machine.Called(step), pawl.ModelFailed{Purpose: step.Purpose, Class: pawl.ClassCancelled, Attempt: step.Attempt})
		case pawl.Finish:
			return step.Verdict, step.Verdict.Status == pawl.StatusExhausted
		default:
			return pawl.Verdict{}, false
		}
	}
	return pawl.Verdict{}, false
}
