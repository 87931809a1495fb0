package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/usercode"
)

// A driver is one ownership of a run, from claiming it to releasing it. It decides, thinks,
// acts and ends. One goroutine at a time drives; others reach it only through its inbox and
// the recorder's feed.
type driver struct {
	owner    owner
	rec      recorder
	inbox    inbox
	effects  effects
	requests requests

	was    pawl.Status // where the run stood when it was claimed
	leg    bool        // another run has handed over to it, whose place among the engine's runs it takes
	early  bool        // keep what is streamed for the handle's first watcher
	life   life        // shared with the handles on the run
	detach func() bool // from the end of the run's context
}

// An owner is the engine, as its drivers know it.
type owner interface {
	// fetch delivers the signals of a run that have arrived since they were last read.
	fetch(ctx context.Context, d *driver) error
	// drop forgets a driver that no longer drives.
	drop(d *driver)
}

// run drives the run and finishes. left is an effect to be recorded first, which another goroutine
// that drove the run was left with; nil: there is none. If code of the agent panics (a loop, a condition, a
// policy, a metric, a filter), the run ends as failed and names that code. The other runs
// of the process go on.
func (d *driver) run(left *effect) {
	shift, returned := d.effects.shift.Load(), false
	var err error
	defer func() {
		switch p := recover(); {
		case d.effects.shift.Load() != shift: // another goroutine drives the run
		case p != nil:
			d.finish(d.panicked(usercode.PanicOf(p)))
		case returned:
			d.finish(err)
		default: // the agent's code has ended this goroutine
			p := usercode.PanicOf(errExited)
			go func() { d.finish(d.panicked(p)) }()
		}
	}()
	if left != nil {
		left.work.record(&d.rec, left.cut, left.abandoned)
	}
	err = d.drive()
	returned = true
}

// drive performs steps until the run ends, is suspended or breaks. It is the only loop: a
// resumed run goes the same way as a new one.
func (d *driver) drive() error {
	for {
		done, err := d.step()
		switch {
		case err == errLeft:
			return err
		case err != nil:
			d.rec.lease.release()
			return err
		case done:
			return nil
		}
	}
}

// step reads the signals, decides, and performs one step. It reports whether the
// run has been released.
func (d *driver) step() (done bool, err error) {
	r := &d.rec
	if r.state.Status().Ended() {
		return true, d.end()
	}
	if asked, err := d.effects.reconcile(); asked || err != nil {
		return false, err
	}
	d.requests.read(d.inbox.take())
	if r.state.Waits(pawl.PhaseAwaitingApproval) {
		d.requests.expire()
	}
	d.requests.reissue = false
	// A cancelled run is not suspended, since resuming would void the cancel.
	if _, cancelled := r.state.Cancelled(); !cancelled {
		if _, suspend, _ := d.inbox.wanted(); suspend {
			paused := pawl.RunPaused{Status: pawl.StatusPaused, Reason: "shut down"}
			if cause := context.Cause(d.inbox.life); cause != nil {
				paused.Reason = cause.Error()
				if errors.Is(cause, ErrDrain) {
					paused.Status = pawl.StatusQueued
				}
			}
			r.appendNow(paused)
			return d.part()
		}
	}
	if asked, err := d.effects.askHooks(); asked || err != nil {
		return false, err
	}
	if asked, err := d.effects.reconcile(); asked || err != nil { // a void cancel had delayed it
		return false, err
	}
	at := r.state.Seq()
	switch step := r.machine.Decide(r.state).(type) {
	case pawl.Observe:
		err = d.effects.observe(at)
	case pawl.Think:
		var later *pawl.RunPaused
		if later, err = d.effects.think(at, &step); later != nil {
			r.appendNow(*later)
			return d.part()
		}
	case pawl.Act:
		err = d.effects.act(at, step)
	default:
		return d.perform(at, step)
	}
	if err == nil {
		err = r.failed
	}
	return done, err
}

// perform performs a step without an effect.
func (d *driver) perform(at uint64, step pawl.Step) (done bool, err error) {
	r := &d.rec
	switch step := step.(type) {
	case pawl.Record:
		if len(step.Events) == 0 {
			return true, fmt.Errorf("run %s: the machine decided to record nothing at entry %d", r.lease.Run, at)
		}
		for _, e := range step.Events {
			switch e := e.(type) {
			case pawl.ToolFinished:
				if d.effects.children.drop(e.Call) {
					return false, r.failed // what it has used counts, so it is decided again
				}
			case pawl.ApprovalInvalidated:
				withdraw(r, e.Call)
			}
		}
		for _, e := range step.Events { // code of the agent may have made them, and kept a reference
			own, err := copied(pawl.Entry{Event: e})
			if err != nil {
				return false, fmt.Errorf("run %s: %w", r.lease.Run, err)
			}
			r.append(at, own.Event)
		}
	case pawl.Await:
		r.append(at, pawl.RunPaused{Status: step.Status, Reason: step.Reason, WakeAt: step.Until})
		if decided, err := d.effects.askApprover(); decided || err != nil {
			return false, err
		}
		if d.requests.unattended() || d.dozes(step) {
			return false, r.failed
		}
		return d.part()
	case pawl.Finish:
		v := step.Verdict
		if d.effects.children.settle() {
			return false, r.failed // what they used counts, so it is decided again
		}
		if v.Status == pawl.StatusCancelled {
			if ended, err := endLost(r); ended || err != nil {
				return false, cmp.Or(err, r.failed)
			}
		}
		for _, f := range r.features {
			if e, ok := f.(ending); ok {
				if err := e.ends(v); errors.Is(err, errClosed) {
					return false, nil // it is about to be suspended
				} else if err != nil {
					return false, err
				}
			}
		}
		r.append(at, step.Stopped())
		if err := d.end(); err != nil {
			return true, err
		}
		for _, f := range r.features {
			if e, ok := f.(ending); ok {
				e.ended()
			}
		}
		return true, nil
	}
	return false, r.failed
}

// longestDoze is how long a run that waits for a time is kept by its process, which would only resume it.
const longestDoze = time.Minute

// dozes waits for the end of a short wait, or for a signal, and resumes the run. It reports false if the
// wait is a long one, or the run is to be released.
func (d *driver) dozes(step pawl.Await) bool {
	r := &d.rec
	waits := func(c pawl.CallState) bool { return c.Phase == pawl.PhaseAwaitingInput && c.WakeAt.Equal(step.Until) }
	left := time.Until(step.Until)
	if step.Status != pawl.StatusPaused || left > longestDoze || !slices.ContainsFunc(slices.Collect(r.state.Open()), waits) || r.flush() != nil {
		return false
	}
	d.inbox.wait(left)
	if _, suspend, _ := d.inbox.wanted(); suspend {
		return false
	}
	r.resumed()
	return true
}

// end makes the log durable and releases the run.
func (d *driver) end() error {
	defer d.rec.lease.release()
	if err := d.rec.flush(); err != nil {
		return err
	}
	d.rec.forgetCalls()
	d.rec.showEnd()
	return nil
}

// part releases a suspended run. A signal may have been sent since signals were last read,
// by a caller that relies on the owner. So part reads once more after the release, and
// claims the run again if there is a signal. It reports whether the run has been released.
func (d *driver) part() (done bool, err error) {
	if err := d.end(); err != nil {
		return true, err
	}
	if d.owner.fetch(d.rec.base, d) != nil { // the signal is read when the run is resumed
		return true, nil
	}
	_, suspend, _ := d.inbox.wanted()
	if !d.requests.answered(d.inbox.waiting(), suspend) && !d.effects.children.signalled() || !d.rec.lease.regain(d.rec.base) {
		return true, nil // its next owner reads the signal
	}
	d.rec.resumed()
	return false, nil
}

// finish announces that this process no longer drives the run.
func (d *driver) finish(err error) {
	l, r := &d.life, &d.rec
	d.detach()
	d.effects.close()
	r.host.left(r.base, r.lease.Run, err)
	l.err = err
	l.result = r.state.Result()
	d.requests.addTokens(&l.result)
	d.effects.children.addPending(&l.result)
	for _, f := range r.features {
		if l, ok := f.(leaver); ok {
			l.leave()
		}
	}
	d.owner.drop(d)
	r.feed.close()
	close(l.done)
}

// panicked ends the run because of a panic. It fails if the run cannot be ended: another
// process owns it, or its log does not match its state.
func (d *driver) panicked(p *usercode.Panic) error {
	r := &d.rec
	clean := func(text string) string { return redact.Text(r.host.secrets.Scrub(text)) }
	r.log(slog.LevelError, "code of the run panicked", slog.String("panic", clean(p.Error())),
		slog.String("value", clean(fmt.Sprint(p.Value))), slog.String("stack", clean(string(p.Stack))))
	ended := false
	err := r.lease.caught(func() error {
		if ended = r.writable(); !ended {
			return nil
		}
		d.effects.children.settle()
		r.appendNow(pawl.RunStopped{Status: pawl.StatusFailed, Condition: usercode.PanicLeaf, Leaf: usercode.PanicLeaf, Detail: r.clean.panicDetail(p)})
		return d.end()
	})
	if err != nil || ended {
		return err
	}
	r.lease.release()
	return panicError(r.lease.Run, p)
}

// panicDetail describes a panic for the log. If a filter panicked, the panic's value is
// left out, since it may have what the filter would have removed.
func (c *cleaner) panicDetail(p *usercode.Panic) (detail string) {
	defer func() {
		if recover() != nil {
			silent := *p
			silent.Value = "(its message is left out, because a filter panicked)"
			detail = silent.Error()
		}
	}()
	return c.text(p.Error())
}
