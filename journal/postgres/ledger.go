package postgres

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
)

var _ budget.Ledger = (*Journal)(nil)

const (
	// lockAccounts locks the accounts that a change is about, in order, so that two changes
	// cannot wait for each other.
	lockAccounts = `SELECT FROM budgets WHERE account = ANY($2) OR account IN
		(SELECT account FROM reservations WHERE run = (SELECT ref FROM runs WHERE id = $1)) ORDER BY account FOR UPDATE`

	// settleAccounts settles what a run has reserved: $2 and $3 are spent, or else all.
	settleAccounts = `WITH settled AS (DELETE FROM reservations WHERE run = (SELECT ref FROM runs WHERE id = $1) RETURNING account, tokens, cost)
		UPDATE budgets b SET reserved_tokens = reserved_tokens - s.tokens, reserved_cost = reserved_cost - s.cost,
			spent_tokens = spent_tokens + coalesce($2::bigint, s.tokens), spent_cost = spent_cost + coalesce($3::bigint, s.cost)
		FROM settled s WHERE b.account = s.account`

	// settleRemoved spends what a removed run had reserved.
	settleRemoved = `WITH settled AS (DELETE FROM reservations WHERE run = $1 RETURNING account, tokens, cost)
		UPDATE budgets b SET reserved_tokens = reserved_tokens - s.tokens, reserved_cost = reserved_cost - s.cost,
			spent_tokens = spent_tokens + s.tokens, spent_cost = spent_cost + s.cost
		FROM settled s WHERE b.account = s.account`

	// reserveAccount reserves $3 tokens and $4 in an account if its limits, which are not zero,
	// allow it. The first call of a period makes the account.
	reserveAccount = `WITH reserved AS (
		INSERT INTO budgets AS b (account, spent_tokens, spent_cost, reserved_tokens, reserved_cost, most_tokens, most_cost)
			SELECT $2::bytea, 0, 0, $3::bigint, $4::bigint, $5::bigint, $6::bigint WHERE ($5 = 0 OR $3 <= $5) AND ($6 = 0 OR $4 <= $6)
		ON CONFLICT (account) DO UPDATE SET reserved_tokens = b.reserved_tokens + $3, reserved_cost = b.reserved_cost + $4, most_tokens = $5, most_cost = $6
			WHERE ($5 = 0 OR b.spent_tokens + b.reserved_tokens + $3 <= $5) AND ($6 = 0 OR b.spent_cost + b.reserved_cost + $4 <= $6)
		RETURNING b.account)
		INSERT INTO reservations (run, account, tokens, cost) SELECT (SELECT ref FROM runs WHERE id = $1), account, $3, $4 FROM reserved`

	balance = `account, spent_tokens, spent_cost, reserved_tokens, reserved_cost, most_tokens, most_cost`
)

// errRefused ends a transaction that must leave nothing behind.
var errRefused = errors.New("refused")

// Spend appends a batch and changes accounts; see [budget.Ledger]. Appends that change an
// account wait for each other.
func (j *Journal) Spend(ctx context.Context, b pawl.Batch, change budget.Change) error {
	add, appended, err := j.appending(b)
	if err != nil {
		return err
	}
	err = j.write(ctx, func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
		broken = pgx.BeginFunc(ctx, c, func(pgx.Tx) error {
			added, refused, err := add(ctx, c, again)
			if added {
				refused, err = spend(ctx, c, b.Run, change)
			}
			if refusal = refused; err == nil && refused != nil {
				err = errRefused
			}
			return err
		})
		if refusal != nil {
			broken = nil
		}
		return refusal, broken
	})
	if err == nil {
		appended()
	}
	return err
}

// spend makes a change to accounts in a transaction.
func spend(ctx context.Context, c *pgx.Conn, run string, change budget.Change) (refusal, broken error) {
	reserve := slices.SortedFunc(slices.Values(change.Reserve), func(a, b budget.Reservation) int { return strings.Compare(a.Account, b.Account) })
	accounts := [][]byte{}
	for _, r := range reserve {
		accounts = append(accounts, []byte(r.Account))
	}
	if _, err := c.Exec(ctx, lockAccounts, []byte(run), accounts); err != nil {
		return nil, err
	}
	if change.Settle != budget.SettleNothing {
		var tokens, cost any = change.Spent.Tokens, change.Spent.Cost
		if change.Settle == budget.SettleReserved {
			tokens, cost = nil, nil
		}
		if _, err := c.Exec(ctx, settleAccounts, []byte(run), tokens, cost); err != nil {
			return nil, err
		}
	}
	for _, r := range reserve {
		done, err := c.Exec(ctx, reserveAccount, []byte(run), []byte(r.Account), r.Amount.Tokens, r.Amount.Cost, r.Most.Tokens, r.Most.Cost)
		if err != nil {
			return nil, err
		}
		if done.RowsAffected() == 0 {
			return over(ctx, c, r)
		}
	}
	return nil, nil
}

// over says why a reservation does not fit.
func over(ctx context.Context, c *pgx.Conn, r budget.Reservation) (refusal, broken error) {
	b, err := scanBalance(c.QueryRow(ctx, `SELECT `+balance+` FROM budgets WHERE account = $1`, []byte(r.Account)))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	if err = b.Reserve(r); err == nil {
		err = errors.New("the account has changed")
	}
	return err, nil
}

func scanBalance(r pgx.Row) (b budget.Balance, err error) {
	var account []byte
	err = r.Scan(&account, &b.Spent.Tokens, &b.Spent.Cost, &b.Reserved.Tokens, &b.Reserved.Cost, &b.Most.Tokens, &b.Most.Cost)
	b.Account = string(account)
	return b, err
}

// Balances yields the accounts; see [budget.Ledger].
func (j *Journal) Balances(ctx context.Context, names ...string) iter.Seq2[budget.Balance, error] {
	return listed(ctx, j, "the budgets", scanBalance, `SELECT `+balance+` FROM budgets WHERE cardinality($1::bytea[]) = 0 OR account = ANY($1) ORDER BY account`, accountNames(names))
}

// Prune removes accounts; see [budget.Ledger].
func (j *Journal) Prune(ctx context.Context, before time.Time) (n int, err error) {
	past, err := budget.Past(j.Balances(ctx), before)
	if err != nil || past == nil {
		return 0, err
	}
	err = j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		done, err := c.Exec(ctx, `DELETE FROM budgets WHERE account = ANY($1) AND reserved_tokens = 0 AND reserved_cost = 0`, accountNames(past))
		n = int(done.RowsAffected())
		return nil, err
	})
	return n, err
}

// accountNames are names of accounts as the database has them.
func accountNames(names []string) [][]byte {
	all := make([][]byte, len(names))
	for i, name := range names {
		all[i] = []byte(name)
	}
	return all
}
