package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs/worker"
)

// Work drives the runs of the host's agents that Temporal dispatches until ctx ends. Then
// they may go on for grace, and are queued so that other workers go on with them. Meanwhile
// Work tells Temporal of runs in the journal that have a new signal, or that Temporal does
// not know of; for these it looks every 30 seconds, unless o.Every says otherwise. Of o it
// also heeds Slots, zero being 100, Rests and Log. Labels are refused, because Temporal
// dispatches by agent.
//
// If TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID are in the environment, the worker
// is that version of that deployment.
func (c *Client) Work(ctx context.Context, j pawl.Journal, host worker.Host, grace time.Duration, o *worker.Options) error {
	o = cmp.Or(o, &worker.Options{})
	if len(o.Labels) > 0 {
		return errors.New("a worker of Temporal gets runs by their agent, not by labels; leave the labels out")
	}
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	agents, err := host.Names(ctx)
	if err != nil {
		return err
	}
	slices.Sort(agents)
	if agents = slices.Compact(agents); len(agents) == 0 {
		return errors.New("there is no agent whose runs to drive")
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	all, failed := &slots{most: cmp.Or(o.Slots, worker.DefaultSlots)}, make(chan error, 1)
	drivers := worker.New(j, host, &worker.Options{Slots: all.most, Reason: engine.ErrDrain, Rests: o.Rests, Log: log})
	defer drivers.Close() // also of those that begin before another agent's worker fails
	d := &driver{journal: j, host: host, worker: drivers, grace: grace, log: log}
	var workers []sdkworker.Worker
	stop := func() {
		var stopping sync.WaitGroup
		for _, w := range workers {
			stopping.Go(w.Stop)
		}
		stopping.Wait()
	}
	for _, agent := range agents {
		options, err := workerOptions(all, grace, failed)
		if err != nil {
			stop()
			return err
		}
		w := sdkworker.New(c.sdk, queue(agent), options)
		w.RegisterWorkflowWithOptions(drives, workflow.RegisterOptions{Name: workflowType})
		w.RegisterActivityWithOptions(d.Drive, activity.RegisterOptions{Name: driveType})
		if err := w.Start(); err != nil {
			stop()
			return c.because(fmt.Errorf("agent %s: %w", agent, err))
		}
		workers = append(workers, w)
	}
	tellers, end := context.WithCancel(ctx)
	k := &waker{client: c, journal: j, host: host, log: log}
	var telling sync.WaitGroup
	telling.Go(func() { k.listen(tellers) })
	telling.Go(func() {
		s := &sweeper{waker: k, told: map[string]bool{}, retries: map[string]*wakening{}}
		s.sweep(tellers, cmp.Or(o.Every, 30*time.Second))
	})
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	end()
	stop()
	telling.Wait()
	return c.because(errors.Join(err, drivers.Close()))
}

// toSuspend is how long suspending the runs may take.
const toSuspend = 30 * time.Second

// workerOptions are the options of the SDK's worker for one agent; failed gets why it cannot
// go on.
func workerOptions(drives *slots, grace time.Duration, failed chan<- error) (sdkworker.Options, error) {
	tasks, err := sdkworker.NewFixedSizeSlotSupplier(100)
	if err != nil {
		return sdkworker.Options{}, err
	}
	tuner, err := sdkworker.NewCompositeTuner(sdkworker.CompositeTunerOptions{
		WorkflowSlotSupplier: tasks, ActivitySlotSupplier: drives, LocalActivitySlotSupplier: tasks, NexusSlotSupplier: tasks, SessionActivitySlotSupplier: tasks,
	})
	if err != nil {
		return sdkworker.Options{}, err
	}
	w := sdkworker.Options{
		Tuner: tuner, WorkerStopTimeout: grace + toSuspend,
		OnFatalError: func(err error) {
			select {
			case failed <- err:
			default:
			}
		},
	}
	name, build := os.Getenv("TEMPORAL_DEPLOYMENT_NAME"), os.Getenv("TEMPORAL_WORKER_BUILD_ID")
	if (name == "") != (build == "") {
		return w, errors.New("worker versioning takes both the name of a deployment and the build; see TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID")
	}
	if name != "" {
		w.DeploymentOptions = sdkworker.DeploymentOptions{
			UseVersioning: true, Version: sdkworker.WorkerDeploymentVersion{DeploymentName: name, BuildID: build},
			DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
		}
	}
	return w, nil
}
