// Package temporal lets a Temporal server dispatch runs to workers, for
// installations that already operate Temporal. Without Temporal, the workers of
// package runs/worker find the runs themselves, in the journal.
//
//	c, err := temporal.Dial(ctx, "temporal://127.0.0.1:7233/default", nil)
//	err = c.Start(ctx, head)                          // hand a run to Temporal
//	err = c.Work(ctx, journal, host, 0, nil)          // drive runs until ctx ends
//
// The journal remains the only record of a run. Temporal has one short workflow for
// each run, whose workflow id is the id of the run. The workflow holds the run's
// status and no message, prompt or secret. Its activity, Drive, drives the run
// until it ends or waits, however many iterations that takes. So the workflow's
// history grows with the number of waits, not with the length of the run. If
// Temporal loses a workflow, it is started again from the journal.
//
// The program pawl-temporal is the command pawl with this package.
package temporal
