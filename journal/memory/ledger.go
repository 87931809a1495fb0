package memory

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
)

var _ budget.Ledger = (*Journal)(nil)

// ledger holds the accounts. Its lock is taken before the others.
type ledger struct {
	mu       sync.Mutex
	accounts map[string]budget.Balance
	reserved map[string]map[string]budget.Amount // by run and account
}

// Spend appends a batch and changes accounts; see [budget.Ledger].
func (j *Journal) Spend(ctx context.Context, b pawl.Batch, c budget.Change) error {
	l := &j.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, err := l.apply(b.Run, c)
	if err != nil {
		return err
	}
	if err := j.Append(ctx, b); err != nil {
		return err
	}
	l.adopt(b.Run, c, changed)
	return nil
}

func (l *ledger) apply(run string, c budget.Change) (map[string]budget.Balance, error) {
	return c.Apply(l.reserved[run], func(account string) (budget.Balance, error) {
		b := l.accounts[account]
		b.Account = account
		return b, nil
	})
}

func (l *ledger) adopt(run string, c budget.Change, changed map[string]budget.Balance) {
	if l.accounts == nil {
		l.accounts, l.reserved = map[string]budget.Balance{}, map[string]map[string]budget.Amount{}
	}
	maps.Copy(l.accounts, changed)
	if c.Settle != budget.SettleNothing {
		delete(l.reserved, run)
	}
	for _, r := range c.Reserve {
		if l.reserved[run] == nil {
			l.reserved[run] = map[string]budget.Amount{}
		}
		l.reserved[run][r.Account] = r.Amount
	}
}

// forget settles what a removed run has reserved.
func (l *ledger) forget(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := budget.Change{Settle: budget.SettleReserved}
	if changed, err := l.apply(run, c); err == nil { // nothing is reserved, so nothing is refused
		l.adopt(run, c, changed)
	}
}

// Balances yields the accounts; see [budget.Ledger].
func (j *Journal) Balances(ctx context.Context, names ...string) iter.Seq2[budget.Balance, error] {
	return func(yield func(budget.Balance, error) bool) {
		j.ledger.mu.Lock()
		all := maps.Clone(j.ledger.accounts)
		j.ledger.mu.Unlock()
		for _, account := range slices.Sorted(maps.Keys(all)) {
			if len(names) > 0 && !slices.Contains(names, account) {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(budget.Balance{}, err)
				return
			}
			if !yield(all[account], nil) {
				return
			}
		}
	}
}

// Prune removes accounts; see [budget.Ledger].
func (j *Journal) Prune(ctx context.Context, before time.Time) (n int, err error) {
	past, err := budget.Past(j.Balances(ctx), before)
	j.ledger.mu.Lock()
	defer j.ledger.mu.Unlock()
	for _, account := range past {
		if j.ledger.accounts[account].Reserved == (budget.Amount{}) {
			delete(j.ledger.accounts, account)
			n++
		}
	}
	return n, err
}
