package client

import (
	"context"
	"iter"
	"net/url"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
)

// Budgets are the accounts of budgets.
type Budgets struct {
	Budgets []Budget `json:"budgets"`
}

// A Budget is what the runs with one value of a label have spent in one period. A null limit
// is none, and a null time is for ever.
type Budget struct {
	Label          string        `json:"label"` // empty: all runs share it
	Value          string        `json:"value"`
	Per            string        `json:"per"` // hour, day, month or total
	Since          *time.Time    `json:"since"`
	Until          *time.Time    `json:"until"` // the end of the period
	SpentUSD       pawl.Decimal  `json:"spent_usd"`
	ReservedUSD    pawl.Decimal  `json:"reserved_usd"` // by model calls in progress
	LimitUSD       *pawl.Decimal `json:"limit_usd"`
	SpentTokens    int64         `json:"spent_tokens"`
	ReservedTokens int64         `json:"reserved_tokens"`
	LimitTokens    *int64        `json:"limit_tokens"`
}

// BudgetsOf yields the accounts of a ledger: of the periods that last at a time or, with all,
// also of earlier ones.
func BudgetsOf(ctx context.Context, l budget.Ledger, now time.Time, all bool) iter.Seq2[Budget, error] {
	return func(yield func(Budget, error) bool) {
		for b, err := range l.Balances(ctx) {
			var a budget.Account
			if err == nil {
				a, err = budget.Parse(b.Account)
			}
			if err != nil {
				yield(Budget{}, err)
				return
			}
			if over := !a.Until().IsZero() && !a.Until().After(now); over && !all {
				continue
			}
			if !yield(budgetOf(a, b), nil) {
				return
			}
		}
	}
}

func budgetOf(a budget.Account, b budget.Balance) Budget {
	out := Budget{
		Label: a.Label, Value: a.Value, Per: a.Per.String(),
		SpentUSD: pawl.Decimal(b.Spent.Dollars()), ReservedUSD: pawl.Decimal(b.Reserved.Dollars()),
		SpentTokens: b.Spent.Tokens, ReservedTokens: b.Reserved.Tokens,
	}
	if !a.Since.IsZero() {
		out.Since, out.Until = new(a.Since), new(a.Until())
	}
	if b.Most.Cost > 0 {
		out.LimitUSD = new(pawl.Decimal(b.Most.Dollars()))
	}
	if b.Most.Tokens > 0 {
		out.LimitTokens = new(b.Most.Tokens)
	}
	return out
}

// Budgets lists what budgets have spent in the periods that last or, with all, also in earlier
// ones.
func (c *Client) Budgets(ctx context.Context, all bool) ([]Budget, error) {
	k := get("v1", "budgets")
	if all {
		k.query = url.Values{"all": {"true"}}
	}
	var out Budgets
	err := c.do(ctx, k, &out)
	return out.Budgets, err
}
