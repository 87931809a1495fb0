// Package temporal has runs driven by workers that a Temporal server dispatches.
//
// The journal stays the only truth about a run. Temporal keeps one short workflow for each
// run, whose id is the run's, and knows nothing but where the run stands: no message, prompt
// or secret reaches it. Its activity Drive drives a run until it ends or waits, however many
// iterations that takes. So the history of a workflow grows with the waits of a run, not with
// its length, and a workflow that Temporal has lost is started again from the journal.
//
//	c, err := temporal.Dial(ctx, "temporal://127.0.0.1:7233/default", nil)
//	err = c.Start(ctx, head)                          // hand a run over
//	err = c.Work(ctx, journal, host, 0, nil)          // drive runs until ctx ends
//
// The program pawl-temporal is the command pawl with this package in it.
package temporal
