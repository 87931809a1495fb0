package webhook

import (
	"context"
	"maps"
	"time"

	"github.com/pawl-run/pawl"
)

const (
	defaultSweep = 2 * time.Minute

	// recent is how long after its last entry a run is still looked at. Who lets
	// no server run for longer than that has notices that nobody is told.
	recent = 7 * 24 * time.Hour

	// mostAtOnce is how many runs are told of at the same time.
	mostAtOnce = 16
)

// A standing is what is known of a run between two looks.
type standing struct {
	hooked bool   // its agent has hooks, so its log is worth reading
	told   uint64 // up to which entry all is told
}

// Tell says that there may be something to tell of a run, with the result of
// the process that drove it. It returns at once; [Outbox.Serve] does the rest.
func (o *Outbox) Tell(result pawl.Result) {
	o.remember(result)
	o.look(result.Run, o.now())
}

// look has Serve look at a run, at the latest at a time.
func (o *Outbox) look(run string, at time.Time) {
	o.mu.Lock()
	if was, ok := o.due[run]; !ok || at.Before(was) {
		o.due[run] = at
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Serve tells of all runs of the journal until ctx ends: of those that [Outbox.Tell]
// names at once, and of the others, which somebody else drove, within
// Options.Sweep. A run that goes on, a child, and one of which all is told cost
// it a line of a list; a run whose agent has no hooks costs one entry once.
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

// ripe takes out the runs that are due, as many as there is room for, and brings
// next forward to when another one is.
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
		}
	}
	return runs // of those without room, the next who is done makes some
}

// visit tells of a run and puts down when to come back.
func (o *Outbox) visit(ctx context.Context, run string) {
	next, left, err := o.step(ctx, run)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		o.opt.Log.Error("what is to be told of a run cannot be read or written", "run", run, "err", err)
		o.look(run, o.now().Add(o.opt.Sweep))
	case left > 0:
		o.look(run, next)
	default:
		o.forget(run)
	}
}

// sweep looks for runs of which there may be something to tell.
func (o *Outbox) sweep(ctx context.Context) error {
	o.mu.Lock()
	known := maps.Clone(o.stands)
	o.mu.Unlock()
	stands := map[string]standing{} // of those that are still recent
	for h, err := range o.journal.List(ctx, pawl.Query{}) {
		if err != nil {
			return err
		}
		now := o.now()
		held := h.Lease.Owner != "" && now.Before(h.Lease.Until) // who has it tells of it
		if h.Seq == 0 || isChild(h) || now.Sub(h.Updated) > recent {
			continue
		}
		at, ok := known[h.Run]
		if !ok {
			if at.hooked, err = o.hooked(ctx, h.Run); err != nil {
				o.opt.Log.Error("a run cannot be read", "run", h.Run, "err", err)
				continue
			}
		}
		if at.hooked && !held && h.Status != pawl.Running && at.told < h.Seq {
			at.told = h.Seq // what is left of it is put down by whoever visits it
			o.look(h.Run, now)
		}
		stands[h.Run] = at
	}
	o.mu.Lock()
	o.stands = stands
	o.mu.Unlock()
	return nil
}

// hooked reports whether the agent that a run began with has hooks.
func (o *Outbox) hooked(ctx context.Context, run string) (bool, error) {
	for e, err := range entries(ctx, o.journal, run) {
		if err != nil {
			return false, err
		}
		start, ok := e.Event.(pawl.RunStarted)
		return ok && len(o.hooks(start.Declaration)) > 0, nil
	}
	return false, nil
}
