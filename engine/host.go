package engine

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/window"
)

// A host is a journal with the options of an engine: what the runs of the engine share, and what
// does not change while it drives them.
type host struct {
	journal  pawl.Journal
	inbox    pawl.Inbox // nil: the journal has none
	notifier notifier   // nil: the journal is none
	blobs    pawl.Blobs // nil: the journal has none
	lasting  bool       // the journal outlives the process, so that a run can wait for other processes
	// Every entry is checked: decoding its bytes gives the folded entry. If it does not, its run stops with
	// an error, and can be resumed from the entry before. It is so in tests and if PAWL_VERIFY is 1, not if it is 0.
	verify  bool
	opt     Options
	limits  rateLimits
	limiter Limiter         // nil: the journal is none
	ledger  budget.Ledger   // nil: the journal is none
	keeper  approval.Keeper // nil: the journal is none
	owner   string          // the owner of its runs, as in leases and logs
	secrets *redact.Secrets
	closing chan struct{} // closed when the engine is closed
	invalid error         // what is wrong with the options
}

// newHost returns the host of an engine; with nil options, one that reads a journal.
func newHost(journal pawl.Journal, o *Options) *host {
	h := &host{journal: journal, closing: make(chan struct{})}
	if o != nil {
		h.opt = *o
	}
	h.opt.Lease = max(cmp.Or(max(h.opt.Lease, 0), usualLease), 50*time.Millisecond)
	h.opt.Call = cmp.Or(max(h.opt.Call, 0), 10*time.Minute)
	h.opt.First = cmp.Or(h.opt.First, 5*time.Minute)
	h.opt.Idle = cmp.Or(h.opt.Idle, 3*time.Minute)
	h.opt.Patience = cmp.Or(h.opt.Patience, time.Minute)
	if h.opt.Backoff == nil {
		h.opt.Backoff = fullJitter
	}
	if h.opt.Owner == nil {
		h.owner = selfText()
	} else {
		h.owner = h.opt.Owner.String()
	}
	if h.opt.Threads == nil {
		h.opt.Threads = new(Threads)
	}
	h.secrets, _ = redact.New(h.opt.Secrets)
	if h.opt.Learned != nil {
		h.secrets = new(h.secrets.With(&h.opt.Learned.set))
	}
	how := os.Getenv("PAWL_VERIFY")
	h.verify = how == "1" || how != "0" && flag.Lookup("test.v") != nil
	_, volatile := journal.(*memory.Journal)
	h.lasting = !volatile
	h.limiter, _ = journal.(Limiter)
	h.ledger, _ = journal.(budget.Ledger)
	h.inbox, _ = journal.(pawl.Inbox)
	h.notifier, _ = journal.(notifier)
	h.blobs, _ = journal.(pawl.Blobs)
	h.keeper, _ = journal.(approval.Keeper)
	h.invalid = h.check()
	return h
}

// machine prepares an agent, with the built-in policies after its own; see guarded.
func (h *host) machine(agent pawl.Agent) (*pawl.Machine, error) {
	if h.invalid != nil {
		return nil, h.invalid
	}
	m, err := pawl.NewMachine(guarded(&agent))
	if err != nil {
		return nil, err
	}
	return m, h.serves(m)
}

// serves returns an error if a budget cannot be held for the agent's models, or if its runs
// can wait for something that cannot come while the journal lives.
func (h *host) serves(m *pawl.Machine) error {
	if err := h.priced(m); err != nil {
		return err
	}
	switch {
	case h.lasting, !m.Waits():
	case m.Asks():
		return fmt.Errorf("agent %q can wait for somebody outside, but its journal is memory and is lost with the process; use a journal on disk", m.Agent().Name)
	case h.opt.Approver == nil:
		return fmt.Errorf("agent %q can wait for an approval, but its journal is memory and is lost with the process; set Options.Approver to decide in this process, or use a journal on disk", m.Agent().Name)
	}
	return nil
}

// guarded returns the agent with the built-in policies.
func guarded(agent *pawl.Agent) pawl.Agent {
	return team.Guard(progress.Guard(window.Guard(*agent)))
}

// log writes to the operator's log. What is returned as an error, or is in a run's log, is
// not written here too.
func (h *host) log(level slog.Level, message, run string, attrs ...slog.Attr) {
	if h.opt.Log == nil {
		return
	}
	defer func() { _ = recover() }() // of a log handler; there is no other log
	if run != "" {
		attrs = append([]slog.Attr{slog.String("run", run)}, attrs...)
	}
	h.opt.Log.LogAttrs(context.Background(), level, message, attrs...)
}

// because returns an error as an attribute, without secrets.
func (h *host) because(err error) slog.Attr {
	return slog.String("error", redact.Text(h.secrets.Scrub(err.Error())))
}

// head returns the head of a run.
func (h *host) head(ctx context.Context, run string) (pawl.Head, error) {
	for found, err := range h.journal.List(ctx, pawl.Query{Run: run}) {
		if err != nil || found.Run == run {
			return found, err
		}
	}
	return pawl.Head{}, fmt.Errorf("run %s: %w", run, pawl.ErrUnknownRun)
}

// pause waits. It returns early, with an error, if ctx ends or the engine is closed.
func (h *host) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-h.closing:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loadChild is [Load] for a child, which has no entries if it was never started.
func (h *host) loadChild(ctx context.Context, run string) (*pawl.State, error) {
	s, err := Load(ctx, h.journal, run)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return s, nil
	}
	return s, err
}

// priced returns an error if a budget of dollars covers a model of the agent without a price.
func (h *host) priced(m *pawl.Machine) error {
	for _, b := range h.opt.Budgets {
		if b.Cost == 0 {
			continue
		}
		d := m.Declaration()
		for _, info := range slices.Concat([]pawl.ModelInfo{d.ModelInfo}, d.Fallback, d.Auxiliary) {
			if info.Price == nil {
				return fmt.Errorf("agent %q: %s cannot be enforced, since the model %s has no price; give it one", m.Agent().Name, b, info.Name)
			}
		}
	}
	return nil
}

// check returns what is wrong with the options.
func (h *host) check() error {
	if _, err := redact.New(h.opt.Secrets); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	for name, rate := range h.opt.Rates {
		switch {
		case rate.Requests < 0 || rate.Tokens < 0:
			return fmt.Errorf("options: the rate of %s is %+v; its figures must not be negative", name, rate)
		case h.limiter == nil:
			return fmt.Errorf("options: there is a rate of %s, but the journal is not an engine.Limiter; use one that is, such as sqlite", name)
		}
	}
	if err := budget.Check(h.opt.Budgets); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	if h.ledger == nil && len(h.opt.Budgets) > 0 {
		return fmt.Errorf("options: there is %s, but the journal is not a budget.Ledger; use one that is, such as sqlite", h.opt.Budgets[0])
	}
	return nil
}

// fullJitter is "full jitter" of M. Brooker, "Exponential Backoff And Jitter"
// (2015): a random wait up to an exponential bound.
func fullJitter(n int) time.Duration {
	bound := min(30*time.Second, 500*time.Millisecond<<min(n-1, 10))
	return rand.N(bound) + time.Millisecond //nolint:gosec // it spreads load, and is no secret
}
