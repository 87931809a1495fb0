package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine/replay"
	"github.com/pawl-run/pawl/internal/meter"
)

// BudgetNote is the author of the note that a budget has refused a model call.
const BudgetNote = "__budget__"

// tight is the model call of a run that waits for room in a budget.
type tight struct {
	since time.Time // zero: none waits
	tries int
}

// leastReply is the least that a lowered reply may have, in tokens, as it is for limits.
const leastReply = 16

// budgets hold the budgets that a run counts for.
type budgets struct {
	rec   *recorder
	tight tight
}

// settle does nothing: the recorder settles what a call has used, with its result.
func (b *budgets) settle(string, int, *pawl.ModelFailed) {}

// admit appends the intent of a model call, if the budgets of the run have room for it. Where
// they leave less than the run's limits, it lowers the reply. If the call does not fit, admit
// returns how long to wait before the call is decided again; not at all if a budget has
// refused it, which is in the log then.
func (b *budgets) admit(c *intent, now time.Time) (wait time.Duration, err error) {
	r, t := b.rec, &c.think
	labels, err := r.payer()
	if err != nil {
		return 0, err
	}
	if gave, err := b.notice(c, labels); gave || err != nil {
		return 0, err
	}
	c.called.Waited = max(c.called.Waited, waitedSince(b.tight.since, r.state.Time(), now))
	least := replay.Lower(r.machine, *t, leastOf(t))
	for {
		lowered := r.machine.Called(*t)
		c.called.MaxTokens, c.called.Reserved, c.called.Cost = lowered.MaxTokens, lowered.Reserved, lowered.Cost
		var entry pawl.Entry
		if entry, err = r.entry(t.Iteration, c.at, c.called); err != nil {
			return 0, err
		}
		var reserve []budget.Reservation
		of := map[string]budget.Budget{}
		for _, held := range r.host.opt.Budgets {
			account := held.Account(labels, entry.Time).Name()
			if _, twice := of[account]; !twice {
				of[account] = held
				reserve = append(reserve, budget.Reservation{Account: account, Amount: budget.Of(c.called.Reserved, c.called.Cost), Most: held.Most()})
			}
		}
		err = r.reserve(entry, reserve)
		over, is := errors.AsType[*budget.OverError](err)
		if !is {
			b.tight = tight{}
			c.booked = err == nil
			return 0, err
		}
		over.Want = budget.Of(r.machine.Called(least).Reserved, least.Cost)
		if over.Reserved != (budget.Amount{}) && over.Soon() && (b.tight.since.IsZero() || now.Sub(b.tight.since) < maxHeld) {
			if b.tight.since.IsZero() {
				b.tight.since = now
				r.log(slog.LevelInfo, "a model call waits for room in a budget", slog.String("account", over.Account))
			}
			b.tight.tries++
			return min(time.Second, 20*time.Millisecond<<min(b.tight.tries, 6)), nil
		}
		most := b.fitting(t, over)
		if most < least.MaxTokens {
			b.tight = tight{}
			return 0, b.refuse(c.at, of[over.Account], over, t)
		}
		*t = replay.Lower(r.machine, *t, most)
	}
}

// notice records a notice for each account of which most is spent, unless a run has given it, before
// a turn of the model that has not waited, since an entry would count the wait as the run's time. It
// reports whether there was one: the turn is decided again then.
func (b *budgets) notice(c *intent, labels map[string]string) (gave bool, err error) {
	r := b.rec
	if c.think.Purpose != pawl.PurposeTurn || !b.tight.since.IsZero() {
		return false, nil
	}
	for _, held := range r.host.opt.Budgets {
		account := held.Account(labels, time.Now())
		notice := pawl.NoticeGiven{About: "budget " + account.Name(), Told: r.machine.Agent().Notices}
		if _, known := r.state.Notice(notice.About); known {
			continue
		}
		for balance, err := range r.host.ledger.Balances(r.base, account.Name()) {
			if err != nil {
				return false, fmt.Errorf("read the budget of %s: %w", account, err)
			}
			spent, most := budget.Amount{Cost: balance.Spent.Cost}, budget.Amount{Cost: held.Most().Cost}
			notice.Used, notice.Most = spent.Dollars(), most.Dollars()
			if !meter.Near(notice.Used, notice.Most) {
				spent, most = budget.Amount{Tokens: balance.Spent.Tokens}, budget.Amount{Tokens: held.Most().Tokens}
				notice.Used, notice.Most = float64(spent.Tokens), float64(most.Tokens)
			}
			if !meter.Near(notice.Used, notice.Most) {
				continue
			}
			first, err := r.firstNotice(account, held)
			if err != nil {
				return false, err
			}
			if first {
				notice.Text = fmt.Sprintf("%s of %s of the budget of %s are spent.", spent, most, account)
				r.append(c.at, notice)
				gave = true
			}
		}
	}
	return gave, nil
}

// firstNotice reports whether the run is the one that gives the notice of an account: no other has, in
// this period and for this limit. One record for each label says which run has, so there are few.
func (r *recorder) firstNotice(account budget.Account, held budget.Budget) (bool, error) {
	if r.host.keeper == nil {
		return true, nil
	}
	name, of := "notice/"+account.String(), account.Name()+" "+held.Most().String()
	now := of + "\n" + r.lease.Run
	var was []byte
	for record, err := range r.host.keeper.Kept(r.base, name) {
		if err != nil {
			return false, err
		}
		if record.Name == name {
			was = record.Data
		}
	}
	if strings.HasPrefix(string(was), of+"\n") {
		return string(was) == now, nil // this run may have died before the notice was in its log
	}
	err := r.host.keeper.Keep(r.base, name, was, []byte(now))
	if errors.Is(err, pawl.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// leastOf is the shortest reply that a call may be lowered to. Those of judges and summaries
// are of no use if they are cut off.
func leastOf(t *pawl.Think) int {
	if t.Purpose != pawl.PurposeTurn && t.Purpose != pawl.PurposeFinal {
		return t.MaxTokens
	}
	return leastReply
}

// fitting is the longest reply, in tokens, for which an account has room that has none for t.
func (b *budgets) fitting(t *pawl.Think, over *budget.OverError) int {
	left := over.Most.Minus(over.Spent).Minus(over.Reserved)
	most := t.MaxTokens - 1
	if over.Most.Tokens > 0 {
		most = min(most, int(left.Tokens)-t.Estimate-t.Hosted.Input)
	}
	if over.Most.Cost > 0 {
		if in := replay.Lower(b.rec.machine, *t, 0).Cost; t.Cost > in {
			most = min(most, int((left.Dollars()-in)/(t.Cost-in)*float64(t.MaxTokens)))
		}
	}
	return most
}

// refuse records that a budget has refused a call. A last answer may be tried after it, whose
// request may be shorter.
func (b *budgets) refuse(at uint64, by budget.Budget, over *budget.OverError, t *pawl.Think) error {
	account, err := budget.Parse(over.Account)
	if err != nil {
		return err
	}
	most := t.MaxTokens
	if t.Purpose == pawl.PurposeFinal {
		most = 0
	}
	note := map[string]any{"seq": at, "leaf": "budget " + account.String(), "detail": over.Error(), "max_tokens": most}
	if by.Wait && !over.Never() {
		note["until"] = account.Until()
	}
	value, err := json.Marshal(note)
	if err == nil {
		b.rec.append(at, pawl.Noted{By: BudgetNote, Name: "refused", Value: value})
	}
	return err
}
