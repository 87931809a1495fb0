package engine

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/replay"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
)

// ForkOptions are the settings of a fork.
type ForkOptions struct {
	ID    string // the new run's id; empty: a generated one
	Input string // an additional message
	// Labels replace those of the other run; nil: the other run's labels at the entry.
	Labels map[string]string
	Stop   pawl.Condition
	// AllowChange lets the fork continue with another agent.
	AllowChange bool
	// Limits raises or lowers limits; zero fields stay. If the run has used them up
	// at the entry, Fork fails with a *SpentError.
	Limits pawl.Limits
	// AllowSpent forks the run even if it has used up Limits already.
	AllowSpent bool
	// Watch is StartOptions.Watch.
	Watch bool
	// By is who forks the run; empty: the log does not say.
	By string
}

// Fork starts a new run that shares the log of another up to entry seq, where no effect may
// be in progress. The other run is only read.
func (e *Engine) Fork(ctx context.Context, agent pawl.Agent, run string, seq uint64, o *ForkOptions) (*Handle, error) {
	o = cmp.Or(o, &ForkOptions{})
	if o.ID != "" {
		if err := checkID(o.ID); err != nil {
			return nil, err
		}
	}
	if err := e.room(); err != nil {
		return nil, err
	}
	d, err := e.fork(ctx, agent, run, seq, o)
	if err != nil {
		return nil, err
	}
	return e.launch(ctx, d)
}

func (e *Engine) fork(ctx context.Context, agent pawl.Agent, run string, seq uint64, o *ForkOptions) (*driver, error) {
	m, err := e.machineWith(ctx, agent, o.Stop)
	if err != nil {
		return nil, err
	}
	shared, from, err := e.cut(ctx, run, seq)
	if err != nil {
		return nil, err
	}
	id := o.ID
	if id == "" {
		id = newID(time.Now())
	}
	lease, err := e.begin(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("fork run %s: %w", run, err)
	}
	d := e.newDriver(ctx, m, lease, nil)
	r := &d.rec
	err = r.lease.caught(func() error { // a filter may panic
		if start, ok := shared[0].Event.(pawl.RunStarted); ok {
			p, err := e.past(ctx, run, start.Continues, r.clean)
			if err != nil {
				return err
			}
			r.continues(&p)
		}
		for _, entry := range shared {
			entry.Run = id
			r.fold(entry)
			r.pending = append(r.pending, entry)
		}
		r.copied = len(shared)
		digest, err := ForkDigest(shared, from)
		if err != nil {
			return err
		}
		r.appendNow(pawl.RunForked{From: from, Seq: uint64(len(shared)), Digest: digest, Input: r.clean.text(o.Input), Labels: e.names(o.Labels), Owner: lease.Owner, Epoch: lease.Epoch, By: o.By})
		return resume(ctx, d, agent, &ResumeOptions{Limits: o.Limits, Stop: o.Stop, AllowChange: o.AllowChange, AllowSpent: o.AllowSpent, of: run})
	})
	if err != nil {
		r.lease.release()
		return nil, err
	}
	d.early = o.Watch
	return d, nil
}

// ForkDigest returns the digest that the log of a run has at the last of its first entries.
// The entries may be copies in a fork, which bear the id of the fork. See [pawl.RunForked].
func ForkDigest(entries []pawl.Entry, run string) (string, error) {
	c := journals.NewChain(run)
	for _, entry := range entries {
		entry.Run = run
		line, err := entry.AppendJSON(nil)
		if err != nil {
			return "", err
		}
		c = c.Next(line)
	}
	return hex.EncodeToString(c[:]), nil
}

// cut reads entries 1 to seq of a run and checks that a fork may leave its log there. It
// reads on to the end, where the log may say that it was redacted. If the run is itself a
// fork and the last shared entry is in its shared part, that entry is another run's.
func (e *Engine) cut(ctx context.Context, run string, seq uint64) (shared []pawl.Entry, from string, err error) {
	s, from := new(pawl.State), run
	var before, after uint64
	for entry, err := range entriesFor(ctx, e.journal, run, s) {
		if err != nil {
			return nil, "", err
		}
		s.Fold(entry)
		if fork, ok := entry.Event.(pawl.RunForked); ok && seq <= fork.Seq && from == run {
			from = fork.From
		}
		if entry.Seq <= seq {
			shared = append(shared, entry)
		}
		switch {
		case s.InFlight():
		case entry.Seq <= seq:
			before = entry.Seq
		case after == 0:
			after = entry.Seq
		}
	}
	if err := s.Internals().CheckMachine(); err != nil {
		return nil, "", err
	}
	if s.Internals().Redacted() {
		return nil, "", fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	switch {
	case seq == 0 || s.Seq() < seq:
		return nil, "", fmt.Errorf("run %s has entries 1 to %d; it cannot be forked at %d", run, s.Seq(), seq)
	case before == seq:
		return shared, from, nil
	case after != 0:
		return nil, "", fmt.Errorf("run %s cannot be forked at %d: something is in flight there; the nearest places are %d and %d", run, seq, before, after)
	}
	return nil, "", fmt.Errorf("run %s cannot be forked at %d: something is in flight there; the nearest place is %d", run, seq, before)
}

// Replay folds a run's log and decides every recorded step again; see [replay.Run]. It
// makes no calls and writes nothing.
func (e *Engine) Replay(ctx context.Context, agent pawl.Agent, run string) (steps int, err error) {
	start, err := firstOf(ctx, e.journal, run)
	if err != nil {
		return 0, err
	}
	m, err := e.machine(team.Member(agent, start.Declaration))
	if err != nil {
		return 0, err
	}
	p, err := e.past(ctx, run, start.Continues, cleaner{})
	if err != nil {
		return 0, err
	}
	return replay.Run(m, p.before(), run, Entries(ctx, e.journal, run, 1), &stop.Options{When: e.opt.When})
}
