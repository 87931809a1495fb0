package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
)

// ledger is the journal as one; the subtest is skipped for those that are none.
func (c *check) ledger() budget.Ledger {
	c.Helper()
	l, ok := c.Journal.(budget.Ledger)
	if !ok {
		c.Skip("this journal keeps no accounts")
	}
	return l
}

// tokens reserves tokens in accounts that have 100.
func tokens(n int64, accounts ...string) (c budget.Change) {
	for _, a := range accounts {
		c.Reserve = append(c.Reserve, budget.Reservation{Account: a, Amount: budget.Amount{Tokens: n, Cost: 2 * n}, Most: budget.Amount{Tokens: 100}})
	}
	return c
}

// spent settles what a run has reserved.
func spent(n int64) budget.Change {
	return budget.Change{Settle: budget.SettleSpent, Spent: budget.Amount{Tokens: n, Cost: 2 * n}}
}

// accounts is a balance for each account of these names, or for all: what is spent and what is
// reserved, in tokens.
func (c *check) accounts(want map[string][2]int64, names ...string) {
	c.Helper()
	got, last := map[string][2]int64{}, ""
	for b, err := range c.ledger().Balances(c.Context(), names...) {
		c.ok(err, "reading the balances")
		if b.Account <= last {
			c.failf("account %q comes after %q", b.Account, last)
		}
		if last = b.Account; b.Spent.Cost != 2*b.Spent.Tokens || b.Reserved.Cost != 2*b.Reserved.Tokens || b.Most != (budget.Amount{Tokens: 100}) {
			c.failf("the cost or limit of %+v is not what was given", b)
		}
		got[b.Account] = [2]int64{b.Spent.Tokens, b.Reserved.Tokens}
	}
	c.same(want, got, "what is spent and reserved")
}

// over insists on a refusal by an account.
func (c *check) over(err error, account string, spent, reserved int64) {
	c.Helper()
	e, ok := errors.AsType[*budget.OverError](err)
	if !ok || e.Account != account || e.Spent.Tokens != spent || e.Reserved.Tokens != reserved || e.Most.Tokens != 100 {
		c.failf("the error is %v, not of the account %s with %d spent and %d reserved", err, account, spent, reserved)
	}
}

var ledgers = []rule{
	{"budget/reserve", "a batch is appended with its reservations, or neither is made", func(c *check) {
		j, l, m := c.ledger(), c.claim("r"), c.claim("s")
		c.ok(j.Spend(c.Context(), batch(l, 0, "a"), tokens(60, "x", "y")), "reserving")
		c.over(j.Spend(c.Context(), batch(m, 0, "b"), tokens(50, "w", "x")), "x", 0, 60)
		c.over(j.Spend(c.Context(), batch(m, 0, "b"), tokens(101, "z")), "z", 0, 0)
		c.logIs("s")
		c.accounts(map[string][2]int64{"x": {0, 60}, "y": {0, 60}})
		c.ok(j.Spend(c.Context(), batch(m, 0, "b"), tokens(40, "x")), "reserving the rest")
		c.logIs("s", "b")
	}},
	{"budget/settle", "what a run has reserved is settled before it reserves again", func(c *check) {
		j, l := c.ledger(), c.claim("r")
		c.ok(j.Spend(c.Context(), batch(l, 0, "a"), tokens(80, "x", "y")), "reserving")
		change := spent(30)
		change.Reserve = tokens(70, "x").Reserve
		c.ok(j.Spend(c.Context(), batch(l, 1, "b"), change), "settling and reserving")
		c.accounts(map[string][2]int64{"x": {30, 70}, "y": {30, 0}})
		c.ok(j.Spend(c.Context(), batch(l, 2, "c"), budget.Change{Settle: budget.SettleReserved}), "spending what is reserved")
		c.ok(j.Spend(c.Context(), batch(l, 3, "d"), spent(5)), "settling nothing")
		c.accounts(map[string][2]int64{"x": {100, 0}, "y": {30, 0}})
		c.accounts(map[string][2]int64{"y": {30, 0}}, "y", "z")
	}},
	{"budget/refused", "what is settled stays reserved if the batch is refused", func(c *check) {
		j, l := c.ledger(), c.claim("r")
		c.ok(j.Spend(c.Context(), batch(l, 0, "a"), tokens(80, "x")), "reserving")
		change := spent(30)
		change.Reserve = tokens(71, "x").Reserve
		c.over(j.Spend(c.Context(), batch(l, 1, "b"), change), "x", 30, 0)
		c.is(j.Spend(c.Context(), batch(l, 0, "b"), spent(30)), pawl.ErrConflict, "appending elsewhere")
		l.Epoch++
		c.is(j.Spend(c.Context(), batch(l, 1, "b"), spent(30)), pawl.ErrFenced, "appending with another epoch")
		c.accounts(map[string][2]int64{"x": {0, 80}})
	}},
	{"budget/removed", "what a run has reserved when it is removed is spent", func(c *check) {
		j, l := c.ledger(), c.claim("r")
		c.ok(j.Spend(c.Context(), batch(l, 0, "a"), tokens(80, "x")), "reserving")
		c.ok(c.shredder().Remove(c.Context(), "r", l.Epoch), "removing the run")
		c.accounts(map[string][2]int64{"x": {80, 0}})
	}},
	{"budget/past", "accounts of periods that are over are removed once nothing is reserved in them", func(c *check) {
		const now, past, before, total = "day 2026-11-26", "day 2026-11-25 tenant=a", "month 2026-10", "total"
		j, l, m := c.ledger(), c.claim("r"), c.claim("s")
		c.ok(j.Spend(c.Context(), batch(l, 0, "a"), tokens(1, before, past, now, total)), "reserving")
		c.ok(j.Spend(c.Context(), batch(l, 1, "b"), spent(1)), "settling")
		c.ok(j.Spend(c.Context(), batch(m, 0, "a"), tokens(2, past)), "reserving in another run")
		for _, left := range []map[string][2]int64{
			{past: {1, 2}, now: {1, 0}, total: {1, 0}},
			{now: {1, 0}, total: {1, 0}},
		} {
			n, err := j.Prune(c.Context(), time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
			c.ok(err, "removing accounts")
			c.same(1, n, "how many accounts are removed")
			c.accounts(left)
			if _, open := left[past]; open {
				c.ok(j.Spend(c.Context(), batch(m, 1, "b"), spent(2)), "settling")
			}
		}
	}},
	{"budget/race", "runs that reserve at once never exceed a limit, and lose nothing", func(c *check) {
		j := c.ledger()
		var leases []pawl.Lease
		for i := range crowd {
			leases = append(leases, c.claim(fmt.Sprint("r", i)))
		}
		var fit, settled int64
		for i, err := range race(crowd, func(i int) error {
			err := j.Spend(c.Context(), batch(leases[i], 0, "a"), tokens(3, "x", "y"))
			if err == nil && i%2 == 0 {
				err = j.Spend(c.Context(), batch(leases[i], 1, "b"), spent(3))
			}
			return err
		}) {
			if _, over := errors.AsType[*budget.OverError](err); over {
				continue
			}
			if c.ok(err, "reserving"); i%2 == 0 {
				settled++
			}
			fit++
		}
		c.same(int64(33), fit, "how many of 3 fit into 100")
		c.accounts(map[string][2]int64{"x": {3 * settled, 3 * (fit - settled)}, "y": {3 * settled, 3 * (fit - settled)}})
	}},
	{"budget/reopened", "accounts outlive a restart", func(c *check) {
		l := c.claim("r")
		c.ok(c.ledger().Spend(c.Context(), batch(l, 0, "a"), tokens(80, "x")), "reserving")
		c.reopen()
		c.accounts(map[string][2]int64{"x": {0, 80}})
		c.ok(c.ledger().Spend(c.Context(), batch(l, 1, "b"), spent(7)), "settling")
		c.accounts(map[string][2]int64{"x": {7, 0}})
	}},
}
