package engine

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/figure"
)

// A SpentError says that a run was not resumed or forked because it has used up the given
// limits already and would have ended at once.
type SpentError struct {
	Run    string
	Used   string      // what is used up, of which limit
	Stop   string      // the part of the stop condition that holds with any limits; empty: none
	Enough pawl.Limits // limits that would suffice; zero: none would
}

// Error names what is used up and which limits would suffice.
func (e *SpentError) Error() string {
	var enough []string
	add := func(set bool, format string, value any) {
		if set {
			enough = append(enough, fmt.Sprintf(format, value))
		}
	}
	add(e.Enough.Iterations > 0, "iterations=%d", e.Enough.Iterations)
	add(e.Enough.Tokens > 0, "tokens=%d", e.Enough.Tokens)
	add(e.Enough.Time > 0, "time=%s", figure.Duration(e.Enough.Time))
	add(e.Enough.Cost > 0, "cost=%g", e.Enough.Cost)
	switch {
	case e.Stop != "":
		return fmt.Sprintf("run %s would end at once whatever its limits: its stop condition %s holds (%s); replace the stop condition as well", e.Run, e.Stop, e.Used)
	case enough == nil:
		return fmt.Sprintf("run %s would end at once with these limits: %s", e.Run, e.Used)
	}
	return fmt.Sprintf("run %s would end at once with these limits: %s; %s would do", e.Run, e.Used, strings.Join(enough, ","))
}

// spent returns an error if a run that continues with the given limits would end at once.
func spent(r *recorder, run string, resumed pawl.RunResumed, limits pawl.Limits) error {
	verdict, ends := foresee(r, resumed, limits)
	if !ends {
		return nil
	}
	e, now := &SpentError{Run: run, Used: verdict.Detail}, r.state.Limits().Merge(limits)
	var enough pawl.Limits
	first := verdict.Leaf
	for ends && raise(r, &enough, now.Merge(enough), verdict.Leaf) {
		last := verdict.Leaf
		if verdict, ends = foresee(r, resumed, limits.Merge(enough)); ends && verdict.Leaf == last {
			break // the leaf names its bound, so it is not the limit
		}
		if last == first && strings.HasPrefix(first, "iterations ") {
			e.Used = fmt.Sprintf("it has used %s, and may use %d", figure.Count(r.state.Iterations(), "iteration"), now.Iterations)
		}
	}
	switch stop := r.machine.Agent().Stop; {
	case !ends:
		e.Enough = enough
	case stop != nil && strings.Contains(stop.String(), verdict.Leaf):
		e.Stop, e.Used = verdict.Leaf, verdict.Detail
	}
	return e
}

// raise raises the limit that a leaf names, and reports whether the leaf names a limit.
func raise(r *recorder, to *pawl.Limits, now pawl.Limits, leaf string) bool {
	const mostIterations, most = 10_000, 1 << 60
	switch kind, _, _ := strings.Cut(leaf, " "); kind {
	case "iterations":
		to.Iterations = max(r.state.Iterations(), now.Iterations) + 1
		return to.Iterations <= mostIterations
	case "tokens":
		to.Tokens = 2 * now.Tokens
		return now.Tokens < most
	case "elapsed":
		to.Time = 2 * now.Time
		return now.Time < most
	case "cost":
		to.Cost = 2 * now.Cost
		return now.Cost < most
	}
	return false
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
