package temporal

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The names that a workflow's history holds. A change of what they mean takes other names.
const (
	workflowType = "pawl.run.v1"
	driveType    = "Drive"
	wakeSignal   = "wake"
)

// handedOn is the status of a run that goes on at once, in any worker.
const handedOn = "queued"

// driving are the options of Drive. The heartbeat's time-out exceeds an engine's lease of 15
// seconds, so that the next attempt can claim a run whose worker died. It begins after a
// second, however many attempts there were, since Drive's errors say when to try again.
// What fails is tried again for ever, because Drive returns as a status what cannot be retried.
var driving = workflow.ActivityOptions{
	StartToCloseTimeout: longest + time.Minute,
	HeartbeatTimeout:    30 * time.Second,
	RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
}

// drives is the workflow of a run. It has the run driven, waits until the run has a reason to
// go on, and begins again. A wake that was sent before the run last came to rest is void.
func drives(ctx workflow.Context, in Input) (rest Rest, err error) {
	var woken uint64 // the entry up to which the last sender of a wake knew the run
	wakes := workflow.GetSignalChannel(ctx, wakeSignal)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for w := (Wake{}); ; woken = max(woken, w.Seq) {
			wakes.Receive(ctx, &w)
		}
	})
	ready := func() bool { return woken >= rest.Seq }
	for {
		var now Rest
		o := driving
		woken, o.Summary = 0, rest.About
		if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), driveType, in).Get(ctx, &now); err != nil {
			return rest, err
		}
		if set := changes(rest, now); set != nil {
			if err := workflow.UpsertTypedSearchAttributes(ctx, set...); err != nil {
				return rest, err
			}
		}
		least := time.Second // since the worker's clock may differ
		if now.Seq == rest.Seq {
			least = driving.HeartbeatTimeout
		}
		rest = now
		switch {
		case rest.Over:
			return rest, nil
		case rest.Status == handedOn, ready():
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return rest, workflow.NewContinueAsNewError(ctx, workflowType, in)
		case rest.WakeAt.IsZero():
			err = workflow.Await(ctx, ready)
		default:
			_, err = workflow.AwaitWithTimeout(ctx, max(rest.WakeAt.Sub(workflow.Now(ctx)), least), ready)
		}
		if err != nil {
			return rest, err
		}
	}
}

// changes are the search attributes that two rests differ in.
func changes(was, now Rest) (set []temporal.SearchAttributeUpdate) {
	if now.Status != was.Status {
		set = append(set, pawlStatus.ValueSet(now.Status))
	}
	switch {
	case slices.Equal(now.Waits, was.Waits):
	case len(now.Waits) == 0:
		set = append(set, pawlWaits.ValueUnset())
	default:
		set = append(set, pawlWaits.ValueSet(now.Waits))
	}
	return set
}
