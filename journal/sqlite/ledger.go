package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
)

var _ budget.Ledger = (*Journal)(nil)

// Spend appends a batch and changes accounts; see [budget.Ledger].
func (j *Journal) Spend(ctx context.Context, b pawl.Batch, c budget.Change) error {
	return j.appendWith(ctx, b, func(w *writer) (refusal, broken error) {
		run, refusal, broken := w.check(b) // before anything is written
		if refusal != nil || broken != nil {
			return refusal, broken
		}
		if refusal, broken = w.spend(run.ref, c); refusal != nil || broken != nil {
			return refusal, broken
		}
		return nil, w.append(run, b)
	})
}

// spend makes a change to accounts, or writes nothing.
func (w *writer) spend(run int64, c budget.Change) (refusal, broken error) {
	reserved := map[string]budget.Amount{}
	err := w.query(`SELECT account, tokens, cost FROM reservations WHERE run = ?`, func(s *sqlite3.Stmt) (bool, error) {
		reserved[s.ColumnText(0)] = budget.Amount{Tokens: s.ColumnInt64(1), Cost: s.ColumnInt64(2)}
		return true, nil
	}, run)
	if err != nil {
		return nil, err
	}
	changed, err := c.Apply(reserved, func(account string) (b budget.Balance, err error) {
		b.Account = account
		return b, w.query(`SELECT `+balance+` FROM budgets WHERE account = ?`, func(s *sqlite3.Stmt) (bool, error) {
			b = balanceOf(s)
			return true, nil
		}, account)
	})
	if over, ok := errors.AsType[*budget.OverError](err); ok {
		return over, nil
	}
	if err != nil {
		return nil, err
	}
	for _, b := range changed {
		if err := w.exec(`INSERT OR REPLACE INTO budgets (`+balance+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			b.Account, b.Spent.Tokens, b.Spent.Cost, b.Reserved.Tokens, b.Reserved.Cost, b.Most.Tokens, b.Most.Cost); err != nil {
			return nil, err
		}
	}
	if c.Settle != budget.SettleNothing && len(reserved) > 0 {
		if err := w.exec(`DELETE FROM reservations WHERE run = ?`, run); err != nil {
			return nil, err
		}
	}
	for _, r := range c.Reserve {
		if err := w.exec(`INSERT OR REPLACE INTO reservations (run, account, tokens, cost) VALUES (?, ?, ?, ?)`, run, r.Account, r.Amount.Tokens, r.Amount.Cost); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

const balance = `account, spent_tokens, spent_cost, reserved_tokens, reserved_cost, most_tokens, most_cost`

func balanceOf(s *sqlite3.Stmt) budget.Balance {
	amount := func(col int) budget.Amount {
		return budget.Amount{Tokens: s.ColumnInt64(col), Cost: s.ColumnInt64(col + 1)}
	}
	return budget.Balance{Account: s.ColumnText(0), Spent: amount(1), Reserved: amount(3), Most: amount(5)}
}

// Balances yields the accounts; see [budget.Ledger].
func (j *Journal) Balances(ctx context.Context, names ...string) iter.Seq2[budget.Balance, error] {
	named, _ := json.Marshal(names) // strings always marshal
	return listed(ctx, j, func(s *sqlite3.Stmt) (budget.Balance, error) { return balanceOf(s), nil },
		`SELECT `+balance+` FROM budgets WHERE ? = 0 OR account IN (SELECT value FROM json_each(?)) ORDER BY account`, len(names), string(named))
}

// Prune removes accounts; see [budget.Ledger].
func (j *Journal) Prune(ctx context.Context, before time.Time) (n int, err error) {
	past, err := budget.Past(j.Balances(ctx), before)
	if err != nil || past == nil {
		return 0, err
	}
	err = j.write(ctx, func(w *writer) (refusal, broken error) {
		n = 0
		for _, account := range past {
			if err := w.exec(`DELETE FROM budgets WHERE account = ? AND reserved_tokens = 0 AND reserved_cost = 0`, account); err != nil {
				return nil, err
			}
			n += int(w.Changes())
		}
		return nil, nil
	})
	return n, err
}
