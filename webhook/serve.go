package webhook

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

const (
	defaultSweep = 2 * time.Minute

	// recent is how long after its last entry a run is still checked. If no server runs for
	// longer, its notices are never delivered.
	recent = 7 * 24 * time.Hour

	// mostAtOnce is how many runs have deliveries at the same time.
	mostAtOnce = 16
)

// A runState is what a sweep remembers about a run for the next one.
type runState struct {
	hooked bool   // its agent has hooks, so its log is worth reading
	done   uint64 // all entries up to this one are delivered
}

// Tell announces that a run may need notices, with the result of the process that drove it. It
// returns at once; [Outbox.Serve] does the rest.
func (o *Outbox) Tell(result pawl.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remember(result)
	o.plan(result.Run, o.now())
}

// look makes Serve visit a run at the given time or earlier.
func (o *Outbox) look(run string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plan(run, at)
}

// plan is look for a caller that has locked the outbox.
func (o *Outbox) plan(run string, at time.Time) {
	if was, ok := o.due[run]; !ok || at.Before(was) {
		o.due[run] = at
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Serve delivers for all runs of the journal until ctx ends: for those that [Outbox.Tell] names
// at once, and for others, which other processes drove, within Options.Sweep. A running run, a
// child, and a run without open notices cost one line of a list; a run whose agent has no hooks
// costs one entry once.
func (o *Outbox) Serve(ctx context.Context) {
	done := make(chan struct{})
	working := 0
	sweep := time.Time{}
	for ctx.Err() == nil {
		now := o.now()
		if !now.Before(sweep) {
			if err := o.sweep(ctx); err != nil && ctx.Err() == nil {
				o.opt.Log.Error("runs that have webhooks cannot be looked for", "err", err)
			}
			sweep = o.now().Add(o.opt.Sweep)
		}
		next := sweep
		for _, run := range o.ripe(now, &next, mostAtOnce-working) {
			working++
			go func() {
				o.visit(ctx, run)
				done <- struct{}{}
			}()
		}
		timer := time.NewTimer(next.Sub(o.now()))
		select {
		case <-timer.C:
		case <-o.wake:
		case <-done:
			working--
		case <-ctx.Done():
		}
		timer.Stop()
	}
	for ; working > 0; working-- {
		<-done
	}
}

// Flush delivers, until ctx ends, what [Outbox.Tell] named and [Outbox.Serve] has not delivered. Call it before
// Serve ends.
func (o *Outbox) Flush(ctx context.Context) {
	o.mu.Lock()
	runs := slices.Collect(maps.Keys(o.due))
	runs = slices.AppendSeq(runs, maps.Keys(o.visits))
	o.mu.Unlock()
	var all sync.WaitGroup
	for _, run := range runs {
		all.Go(func() {
			if left, err := o.deliver(ctx, run); err != nil || left > 0 {
				o.opt.Log.Warn("webhooks are not delivered yet; pawl serve, or the next command that drives the run, retries", "run", run, "left", left)
			}
		})
	}
	all.Wait()
}

// ripe removes and returns the runs that are due, at most room of them, and sets next to the
// earliest time of another one.
func (o *Outbox) ripe(now time.Time, next *time.Time, room int) (runs []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for run, at := range o.due {
		switch {
		case at.After(now):
			if at.Before(*next) {
				*next = at
			}
		case len(runs) < room:
			runs = append(runs, run)
			delete(o.due, run)
			o.visits[run]++
		}
	}
	return runs // the queue is full: the next finished visit makes room
}

// visit delivers for a run and schedules the next visit.
func (o *Outbox) visit(ctx context.Context, run string) {
	defer o.visited(run)
	next, left, err := o.step(ctx, run)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		o.opt.Log.Error("cannot read or write the notices of a run", "run", run, "err", err)
		o.look(run, o.now().Add(o.opt.Sweep))
	case left > 0:
		o.look(run, next)
	}
}

// sweep finds runs that may need notices.
func (o *Outbox) sweep(ctx context.Context) error {
	o.mu.Lock()
	known := maps.Clone(o.states)
	o.mu.Unlock()
	stands := map[string]runState{} // of runs that are still recent
	for h, err := range o.journal.List(ctx, pawl.Query{}) {
		if err != nil {
			return err
		}
		now := o.now()
		held := h.Lease.Owner != "" && now.Before(h.Lease.Until) // the owner delivers for it
		if h.Seq == 0 || isChild(h) || now.Sub(h.Updated) > recent {
			continue
		}
		at, ok := known[h.Run]
		if !ok {
			if at.hooked, err = o.hooked(ctx, h.Run); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				o.opt.Log.Error("a run cannot be read", "run", h.Run, "err", err)
				continue
			}
		}
		if !at.hooked {
			at.done = h.Seq
		}
		if at.hooked && !held && h.Status != pawl.StatusRunning && at.done < h.Seq {
			at.done = h.Seq // visit will record what is left
			o.look(h.Run, now)
		}
		stands[h.Run] = at
	}
	o.mu.Lock()
	o.states = stands
	o.mu.Unlock()
	return nil
}

// hooked reports whether a run, or the agent that it began with, has hooks.
func (o *Outbox) hooked(ctx context.Context, run string) (bool, error) {
	for e, err := range entries(ctx, o.journal, run) {
		if err != nil {
			return false, err
		}
		start, ok := e.Event.(pawl.RunStarted)
		if !ok {
			return false, nil
		}
		return len(o.hooks(start.Declaration)) > 0, nil
	}
	return false, nil
}
