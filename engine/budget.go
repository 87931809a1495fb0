package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine/replay"
)

// BudgetNote is the author of the note that a budget has refused a model call.
const BudgetNote = "__budget__"

// checkBudgets prepares the budgets, or makes the engine refuse to run anything.
func (e *Engine) checkBudgets() {
	e.ledger, _ = e.journal.(budget.Ledger)
	switch err := budget.Check(e.opt.Budgets); {
	case e.invalid != nil:
	case err != nil:
		e.invalid = fmt.Errorf("options: %w", err)
	case e.ledger == nil && len(e.opt.Budgets) > 0:
		e.invalid = fmt.Errorf("options: there is %s, but the journal is not a budget.Ledger; use one that is, such as sqlite", e.opt.Budgets[0])
	}
}

// priced returns an error if a budget of dollars covers a model of the agent without a price.
func (e *Engine) priced(m *pawl.Machine) error {
	for _, b := range e.opt.Budgets {
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

// tight is the model call of a run that waits for room in a budget.
type tight struct {
	since time.Time // zero: none waits
	tries int
}

// waited is how long a call that is made now has waited since the last entry.
func (t *tight) waited(since, now time.Time) time.Duration {
	if t.since.IsZero() {
		return 0
	}
	return min(now.Sub(t.since), now.Sub(since)).Truncate(time.Millisecond)
}

// leastReply is the least that a lowered reply may have, in tokens, as it is for limits.
const leastReply = 16

// book appends the intent of a model call, if the budgets of the run have room for it. Where
// they leave less than the run's limits, it lowers the reply. If the call does not fit, book
// returns how long to wait before the call is decided again; not at all if a budget has
// refused it, which is in the log then.
func (d *driver) book(now time.Time, t *pawl.Think, at uint64, waited time.Duration) (wait time.Duration, booked bool, err error) {
	r := &d.rec
	called := r.machine.Called(*t)
	called.Waited = waited
	if len(r.engine.opt.Budgets) == 0 {
		r.appendIn(t.Iteration, at, called)
		return 0, true, nil
	}
	return d.bookWithin(now, t, at, called)
}

// bookWithin is book where there are budgets.
func (d *driver) bookWithin(now time.Time, t *pawl.Think, at uint64, called pawl.ModelCalled) (wait time.Duration, booked bool, err error) {
	r := &d.rec
	labels, err := d.payer()
	if err != nil {
		return 0, false, err
	}
	least := replay.Lower(r.machine, *t, d.least(t))
	for {
		lowered := r.machine.Called(*t)
		called.MaxTokens, called.Reserved, called.Cost = lowered.MaxTokens, lowered.Reserved, lowered.Cost
		var entry pawl.Entry
		if entry, err = r.entry(t.Iteration, at, called); err != nil {
			return 0, false, err
		}
		var reserve []budget.Reservation
		of := map[string]budget.Budget{}
		for _, b := range r.engine.opt.Budgets {
			account := b.Account(labels, entry.Time).Name()
			if _, twice := of[account]; !twice {
				of[account] = b
				reserve = append(reserve, budget.Reservation{Account: account, Amount: budget.Of(called.Reserved, called.Cost), Most: b.Most()})
			}
		}
		err = r.reserve(entry, reserve)
		over, is := errors.AsType[*budget.OverError](err)
		if !is {
			d.tight = tight{}
			return 0, err == nil, err
		}
		over.Want = budget.Of(r.machine.Called(least).Reserved, least.Cost)
		if over.Reserved != (budget.Amount{}) && over.Soon() && (d.tight.since.IsZero() || now.Sub(d.tight.since) < maxHeld) {
			if d.tight.since.IsZero() {
				d.tight.since = now
				r.log(slog.LevelInfo, "a model call waits for room in a budget", slog.String("account", over.Account))
			}
			d.tight.tries++
			return min(time.Second, 20*time.Millisecond<<min(d.tight.tries, 6)), false, nil
		}
		most := d.fitting(t, over)
		if most < least.MaxTokens {
			d.tight = tight{}
			return 0, false, d.refuse(at, of[over.Account], over, t)
		}
		*t = replay.Lower(r.machine, *t, most)
	}
}

// least is the shortest reply that a call may be lowered to. Those of judges and summaries
// are of no use if they are cut off.
func (d *driver) least(t *pawl.Think) int {
	if t.Purpose != pawl.PurposeTurn && t.Purpose != pawl.PurposeFinal {
		return t.MaxTokens
	}
	return leastReply
}

// fitting is the longest reply, in tokens, for which an account has room that has none for t.
func (d *driver) fitting(t *pawl.Think, over *budget.OverError) int {
	left := over.Most.Minus(over.Spent).Minus(over.Reserved)
	most := t.MaxTokens - 1
	if over.Most.Tokens > 0 {
		most = min(most, int(left.Tokens)-t.Estimate-t.Hosted.Input)
	}
	if over.Most.Cost > 0 {
		if in := replay.Lower(d.rec.machine, *t, 0).Cost; t.Cost > in {
			most = min(most, int((left.Dollars()-in)/(t.Cost-in)*float64(t.MaxTokens)))
		}
	}
	return most
}

// refuse records that a budget has refused a call. A last answer may be tried after it, whose
// request may be shorter.
func (d *driver) refuse(at uint64, b budget.Budget, over *budget.OverError, t *pawl.Think) error {
	account, err := budget.Parse(over.Account)
	if err != nil {
		return err
	}
	most := t.MaxTokens
	if t.Purpose == pawl.PurposeFinal {
		most = 0
	}
	note := map[string]any{"seq": at, "leaf": "budget " + account.String(), "detail": over.Error(), "max_tokens": most}
	if b.Wait && !over.Never() {
		note["until"] = account.Until()
	}
	value, err := json.Marshal(note)
	if err == nil {
		d.rec.append(at, pawl.Noted{By: BudgetNote, Name: "refused", Value: value})
	}
	return err
}

// payer returns the labels that budgets look at: those of the run above all others.
func (d *driver) payer() (map[string]string, error) {
	if d.labels != nil {
		return d.labels, nil
	}
	r := &d.rec
	head := r.state.Head()
	for parent := ParentOf(r.state); parent != ""; {
		above, err := r.engine.head(r.base, parent)
		if errors.Is(err, pawl.ErrUnknownRun) { // imported without it
			break
		}
		if err != nil {
			return nil, err
		}
		head, parent = above, parentOf(above.Run, above.Parent)
	}
	if d.labels = head.Labels; d.labels == nil {
		d.labels = map[string]string{}
	}
	return d.labels, nil
}

// reserve makes an entry and all before it durable, together with its reservations, and folds
// it. If the error is a *budget.OverError, nothing has changed.
func (r *recorder) reserve(entry pawl.Entry, reserve []budget.Reservation) error {
	if err := r.able(); err != nil {
		return err
	}
	probe := r.state.Clone()
	probe.Fold(entry)
	err := r.writeWith(append(r.pending[:len(r.pending):len(r.pending)], entry), probe, reserve)
	if err != nil {
		if _, over := errors.AsType[*budget.OverError](err); !over {
			r.failed = fmt.Errorf("append to run %s: %w", r.lease.Run, err)
			err = r.failed
		}
		return err
	}
	r.holds = true
	r.take(entry)
	r.written()
	return nil
}

// reserved takes note of an event of a log that is loaded: a model call that has no result may
// have reserved something, with an engine that had budgets.
func (r *recorder) reserved(event pawl.Event) {
	switch event.(type) {
	case pawl.ModelCalled:
		r.holds = r.engine.ledger != nil
	case pawl.ModelReplied, pawl.ModelFailed, pawl.RunResumed, pawl.RunForked:
		r.holds = false
	}
}

// settling is what entries do to what the run has reserved.
func settling(entries []pawl.Entry) (c budget.Change) {
	for _, e := range entries {
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			c.Settle, c.Spent = budget.SettleSpent, budget.Of(e.Reply.Usage.Total(), e.Cost)
		case pawl.ModelFailed:
			c.Settle, c.Spent = budget.SettleSpent, budget.Of(e.Usage.Total(), e.Cost)
		case pawl.RunResumed:
			c.Settle = budget.SettleReserved
		}
	}
	return c
}
