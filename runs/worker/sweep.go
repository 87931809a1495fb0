package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// Run takes runs that need an owner, until ctx ends or the worker is closed. Runs that it
// drives go on; see [Worker.Drain] and [Worker.Close].
func (w *Worker) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(w.life, cancel)
	defer stop()
	s := &sweeper{
		worker: w, journal: w.journal, every: w.options.Every, log: w.log,
		signals: map[string]unread{}, lapsed: map[string]unheld{}, failed: map[string]*failure{}, dry: map[string]time.Time{},
	}
	s.mail, _ = w.journal.(pawl.Inbox)
	if s.queue, _ = w.journal.(runs.Queue); s.queue != nil {
		s.rings = rings(ctx, w.journal)
	}
	for look, queue := time.Now(), time.Now(); ; {
		if now := time.Now(); !now.Before(look) {
			look = now.Add(s.every - rand.N(s.every/4)) //nolint:gosec // keeps servers apart, protects nothing
			s.look(ctx, now)
		}
		next := s.wake(ctx, time.Now())
		if now := time.Now(); s.queue != nil && !now.Before(queue) {
			s.take(ctx)
			if queue = now.Add(lookAtQueue); s.again {
				queue = now.Add(lookApart)
			}
		}
		if next.IsZero() || next.After(look) {
			next = look
		}
		if s.queue != nil && next.After(queue) {
			next = queue
		}
		freed := w.freed
		if !s.again && !s.capped {
			freed = nil // an empty queue has nothing for a free slot
		}
		select {
		case <-time.After(time.Until(next)):
			continue
		case <-s.rings:
		case <-freed:
		case <-ctx.Done():
			return
		}
		if soon := time.Now().Add(lookApart); queue.After(soon) {
			queue = soon
		}
	}
}

// sweeper is what is remembered between two looks.
type sweeper struct {
	worker  *Worker
	journal pawl.Journal
	mail    pawl.Inbox // nil: the journal has none
	queue   runs.Queue // nil: the journal has none
	rings   <-chan struct{}
	later   bool // the last run that was found is to be looked at again
	driven  bool // the last run that was found is driven by another process
	again   bool // the last look at the queue took all that it might
	capped  bool // the last look may have left runs of an agent or tenant that has its most
	every   time.Duration
	log     *slog.Logger

	agents  []string
	due     []*pawl.Head      // runs whose time comes before the next look, the earliest first
	pace    pace              // of waking them
	lapsed  map[string]unheld // runs that were found without a live lease
	read    int64             // the last signal
	caught  bool              // the signals from before the first look are known
	signals map[string]unread // runs that may have unread signals
	failed  map[string]*failure
	width   int                  // how many queued runs are taken at once, after a rate was used up; zero: any number
	dry     map[string]time.Time // agents whose provider has no rate left, and until when
	trouble string               // what the last look failed with
}

// look finds runs that need an owner. It resumes those whose owner died and those
// with unread signals, and leaves those that wait for a time to wake.
func (s *sweeper) look(ctx context.Context, now time.Time) {
	s.say(ctx, s.find(ctx, now))
}

// say reports that the journal cannot be searched, once.
func (s *sweeper) say(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		s.trouble = ""
	case err.Error() != s.trouble:
		s.trouble = err.Error()
		s.log.Error("the journal cannot be searched for runs to resume; it is tried again every few seconds", "error", err)
	}
}

func (s *sweeper) find(ctx context.Context, now time.Time) (err error) {
	s.due = nil
	maps.DeleteFunc(s.failed, func(_ string, f *failure) bool { return now.Sub(f.until) > 2*s.every }) // it is not found any more
	if s.agents, err = s.worker.host.Names(ctx); err != nil || len(s.agents) == 0 {
		return err
	}
	lost, err := s.lost(ctx, now)
	if err != nil {
		return err
	}
	// Of several programs that find the same runs each begins with another one.
	rand.Shuffle(len(lost), func(a, b int) { lost[a], lost[b] = lost[b], lost[a] }) //nolint:gosec // keeps servers apart, protects nothing
	for _, h := range lost {
		s.resume(ctx, h, ownerDied)
	}
	if err := s.free(ctx); err != nil {
		return err
	}
	if s.mail == nil {
		return nil
	}
	return s.listen(ctx, now)
}

// orphans is the most running runs that are looked at for owners which are known to
// be gone. It keeps a look cheap: the leases of all others lapse.
const orphans = 4096

// A unheld is a run that nobody holds a live lease of.
type unheld struct {
	epoch uint64
	since time.Time
}

// lost lists the runs whose owner died, and notes those whose time comes before the
// next look. An owner whose lease has lapsed counts as dead when it has not renewed
// the lease by the next look: after a machine was suspended, all leases have lapsed
// and all owners live.
func (s *sweeper) lost(ctx context.Context, now time.Time) (lost []pawl.Head, err error) {
	lapsed := map[string]unheld{}
	for h, err := range s.journal.List(ctx, pawl.Query{Due: now.Add(s.every)}) {
		switch {
		case err != nil:
			return nil, err
		case h.Status != pawl.StatusRunning:
			s.due = append(s.due, &h)
			continue
		}
		at, known := s.lapsed[h.Run]
		if !known || at.epoch != h.Lease.Epoch {
			at = unheld{h.Lease.Epoch, now}
		}
		lapsed[h.Run] = at
		if now.Sub(at.since) >= s.every/2 {
			lost = append(lost, h)
		}
	}
	s.lapsed = lapsed
	slices.SortFunc(s.due, func(a, b *pawl.Head) int { return a.WakeAt.Compare(b.WakeAt) })
	for h, err := range s.journal.List(ctx, pawl.Query{Status: pawl.StatusRunning, Max: orphans}) {
		if err != nil {
			return nil, err
		}
		if engine.ParseOwner(h.Lease.Owner).Gone() {
			lost = append(lost, h)
		}
	}
	return lost, nil
}

// wake resumes the runs whose time has come, as fast as the pace allows, and says
// when to come back; zero: after the next look.
func (s *sweeper) wake(ctx context.Context, now time.Time) (next time.Time) {
	for len(s.due) > 0 && ctx.Err() == nil {
		h := s.due[0]
		if next = h.WakeAt; next.After(now) {
			return next
		}
		if next = s.pace.next(now); next.After(now) {
			return next
		}
		s.due = s.due[1:]
		if s.resume(ctx, *h, timeHasCome) {
			s.pace.even = s.pace.even.Add(wakeApart)
		}
	}
	return time.Time{}
}

// Of runs that are due together, the first wakeAtOnce are woken at once, and the
// others one each wakeApart: all at once, they would use up again what was reset.
const (
	wakeAtOnce = 4
	wakeApart  = 500 * time.Millisecond
)

// pace is the generic cell rate algorithm of ITU-T I.371: even is when as many
// have been woken as may have been by then.
type pace struct{ even time.Time }

// next is when one more may be woken.
func (p *pace) next(now time.Time) time.Time {
	if p.even.Before(now) {
		p.even = now
	}
	return p.even.Add(-(wakeAtOnce - 1) * wakeApart)
}

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
			err = s.Internals().CheckNext(e)
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

// An unread is what is known of a run that may have unread signals.
type unread struct {
	since time.Time
	next  time.Time // when to look at it
}

// listen reads the signals that came since the last look, and resumes runs with
// signals that nobody has read. The sender of a signal has until the next look to
// resume the run itself, as pawl approve does.
func (s *sweeper) listen(ctx context.Context, now time.Time) error {
	var parked map[string]bool
	if !s.caught { // before the first look signals came to runs that have long ended
		var err error
		if parked, err = runs.Parked(ctx, s.journal); err != nil {
			return err
		}
	}
	for l, err := range s.mail.Signals(ctx, "", s.read) {
		if err != nil {
			return err
		}
		s.read = l.ID
		if _, known := s.signals[l.Run]; !known && l.Kind != pawl.SignalDelivery && l.Kind != pawl.SignalNote && (s.caught || parked[l.Run]) {
			s.signals[l.Run] = unread{now, now.Add(s.every / 2)}
		}
	}
	s.caught = true
	for run, at := range s.signals {
		if now.Before(at.next) {
			continue
		}
		h, err := runs.Head(ctx, s.journal, run)
		if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
			return err
		}
		h.Run = run
		switch s.resume(ctx, h, hasSignal); {
		case s.driven: // its owner may stop before it reads the signal; looking ever more rarely costs little
			s.signals[run] = unread{at.since, now.Add(now.Sub(at.since))}
		case !s.later:
			delete(s.signals, run) // it is resumed, or its owner reads the signal, or that says nothing to the run
		case s.worker.free() == 0:
			return nil // the others wait for a slot, too
		}
	}
	return nil
}
