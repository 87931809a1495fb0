package budget

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
)

// A Ledger is a journal that keeps accounts, by name. The journals of this module are
// Ledgers.
type Ledger interface {
	pawl.Journal

	// Spend appends a batch as Append does, and makes a change to accounts in the same
	// commit. If a reservation does not fit, it does neither, and the error is an
	// *OverError. What a run has reserved when it is removed is spent.
	Spend(ctx context.Context, b pawl.Batch, c Change) error

	// Balances yields the accounts of these names, or all, in order of their names.
	Balances(ctx context.Context, names ...string) iter.Seq2[Balance, error]

	// Prune removes the accounts that [Past] lists, and returns how many there were.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// Past lists the accounts whose period ended before a time, and in which nothing is
// reserved. No call needs them any more.
func Past(all iter.Seq2[Balance, error], before time.Time) (accounts []string, err error) {
	for b, err := range all {
		if err != nil {
			return nil, err
		}
		a, unknown := Parse(b.Account)
		if until := a.Until(); unknown == nil && !until.IsZero() && until.Before(before) && b.Reserved == (Amount{}) {
			accounts = append(accounts, b.Account)
		}
	}
	return accounts, nil
}

// A Change is what an append does to accounts. First it settles what the run of the batch has
// reserved, then it reserves.
type Change struct {
	Settle  Settle
	Spent   Amount        // what the call has cost, with SettleSpent
	Reserve []Reservation // for the next call, in accounts that differ
}

// Settle is how a reservation is settled.
type Settle int

// How it is settled.
const (
	SettleNothing  Settle = iota // it stays
	SettleSpent                  // what the call has cost is spent, and the rest given back
	SettleReserved               // what was reserved is spent: nobody knows what the call has cost
)

// A Reservation sets an amount aside in an account, unless Most is exceeded by what is spent
// and reserved there.
type Reservation struct {
	Account string
	Amount  Amount
	Most    Amount // zeros are no limits
}

// A Balance is how an account stands.
type Balance struct {
	Account  string
	Spent    Amount
	Reserved Amount // by calls in progress, and by runs that lost their process in one
	Most     Amount // the limit when something was last reserved
}

// Reserve adds a reservation, or returns why it does not fit.
func (b *Balance) Reserve(r Reservation) error {
	if !b.Spent.Plus(b.Reserved).Plus(r.Amount).Within(r.Most) {
		return &OverError{Balance: Balance{r.Account, b.Spent, b.Reserved, r.Most}, Want: r.Amount}
	}
	b.Account, b.Most, b.Reserved = r.Account, r.Most, b.Reserved.Plus(r.Amount)
	return nil
}

// Settled returns the balance after a reservation in it is settled.
func (b Balance) Settled(reserved Amount, c Change) Balance {
	spent := reserved
	if c.Settle == SettleSpent {
		spent = c.Spent
	}
	b.Reserved, b.Spent = b.Reserved.Minus(reserved), b.Spent.Plus(spent)
	return b
}

// An OverError says that a reservation does not fit.
type OverError struct {
	Balance
	Want Amount // the reservation
}

// Error says what is left in which account.
func (e *OverError) Error() string {
	only := Amount.dollars
	if !e.Spent.Plus(e.Reserved).Plus(e.Want).Within(Amount{Tokens: e.Most.Tokens}) {
		only = Amount.tokens
	}
	if a, err := Parse(e.Account); err == nil && e.Never() {
		return fmt.Sprintf("the budget of %s, %s, is less than the next call needs, %s: raise it", a, only(e.Most), only(e.Want))
	}
	text := fmt.Sprintf("of %s, %s are spent", only(e.Most), only(e.Spent))
	if e.Reserved != (Amount{}) {
		text += fmt.Sprintf(" and %s reserved by other calls", only(e.Reserved))
	}
	text += fmt.Sprintf("; it needs at least %s", only(e.Want))
	if a, err := Parse(e.Account); err == nil {
		text = fmt.Sprintf("the next call does not fit the budget of %s: %s", a, text)
		if until := a.Until(); !until.IsZero() {
			text += fmt.Sprintf("; the next period begins at %s", until.Format(time.RFC3339))
		}
	}
	return text
}

// Never reports whether the reservation is more than the budget of a whole period.
func (e *OverError) Never() bool { return !e.Want.Within(e.Most) }

// Soon reports whether the reservation fits when the calls in progress have cost nothing.
func (e *OverError) Soon() bool { return e.Spent.Plus(e.Want).Within(e.Most) }

// Apply returns the balances that a change gives the accounts, for journals that keep them
// under a lock. reserved is what the run has reserved, by account, and balance returns how an
// account stands. An error other than an *OverError is balance's.
func (c Change) Apply(reserved map[string]Amount, balance func(account string) (Balance, error)) (map[string]Balance, error) {
	out := map[string]Balance{}
	of := func(account string) (b Balance, err error) {
		b, known := out[account]
		if !known {
			b, err = balance(account)
		}
		return b, err
	}
	if c.Settle != SettleNothing {
		for account, amount := range reserved {
			b, err := of(account)
			if err != nil {
				return nil, err
			}
			out[account] = b.Settled(amount, c)
		}
	}
	for _, r := range c.Reserve {
		b, err := of(r.Account)
		if err == nil {
			err = b.Reserve(r)
		}
		if err != nil {
			return nil, err
		}
		out[r.Account] = b
	}
	return out, nil
}
