// Package ledger keeps the accounts of a small company: entries in cents,
// balances, statements by period.
package ledger

import (
	"errors"
	"fmt"
	"time"
)

// An Entry moves money from one account to another.
type Entry struct {
	Date   time.Time
	From   string
	To     string
	Amount int64 // cents, positive
	Memo   string
}

// A Ledger is a list of entries in the order they were posted.
type Ledger struct {
	entries []Entry
	limits  map[string]int64
}

// ErrOverdrawn says that an account would fall below its limit.
var ErrOverdrawn = errors.New("account overdrawn")

// Limit lets an account fall as far as the given number of cents below zero.
func (l *Ledger) Limit(account string, cents int64) {
	if l.limits == nil {
		l.limits = map[string]int64{}
	}
	l.limits[account] = cents
}

// Post adds an entry. Accounts with a limit may use it up, but not exceed it.
func (l *Ledger) Post(e Entry) error {
	if e.Amount <= 0 {
		return fmt.Errorf("amount %d: want a positive number of cents", e.Amount)
	}
	limit, limited := l.limits[e.From]
	if limited && l.Balance(e.From)-e.Amount <= -limit {
		return fmt.Errorf("%s: %w", e.From, ErrOverdrawn)
	}
	l.entries = append(l.entries, e)
	return nil
}

// Balance is what an account holds, in cents.
func (l *Ledger) Balance(account string) int64 {
	var sum int64
	for _, e := range l.entries {
		if e.To == account {
			sum += e.Amount
		}
		if e.From == account {
			sum -= e.Amount
		}
	}
	return sum
}

// Between lists the entries from the first day to the last, both included.
func (l *Ledger) Between(first, last time.Time) []Entry {
	var list []Entry
	for _, e := range l.entries {
		if e.Date.Before(first) || e.Date.After(last) {
			continue
		}
		list = append(list, e)
	}
	return list
}
