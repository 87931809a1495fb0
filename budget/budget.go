// Package budget limits what many runs spend together, such as 5 dollars a day for
// each tenant. The limits of a single run are pawl.Limits.
//
// A [Budget] limits the model calls of all runs that have the same value of a
// label, in a period of UTC. Give budgets to engine.Options.Budgets, or to the key
// budgets of a spec. The journal must be a [Ledger]; the journals of this module
// are.
//
// A call is reserved in the commit that records its intent, and settled in the
// commit that records its result. So the logs and the accounts of a ledger always
// agree.
package budget

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
)

// A Budget is what the runs with one value of a label may spend in a period. Runs without
// the label share the budget of the empty value. A child run is part of the run above it.
type Budget struct {
	Label  string  `key:"label" usual:"all runs share one budget" about:"label whose values have a budget each; runs without the label share one"`
	Per    Period  `key:"per" required:"true" enum:"hour,day,month,total" such:"day" about:"period, in UTC"`
	Cost   float64 `key:"cost" above:"0" such:"50" usual:"no limit" about:"dollars; the models must have prices"`
	Tokens int     `key:"tokens" such:"1000000" usual:"no limit" about:"input and output tokens"`
	// Wait pauses a run whose next call does not fit until the next period begins.
	Wait bool `key:"then" enum:"end,wait" usual:"end" about:"when the next call does not fit, the run ends as exhausted, or waits for the next period"`
}

// Check returns what is wrong with budgets that hold together; nil: nothing is.
func Check(all []Budget) error {
	for i, b := range all {
		switch {
		case b.Per < Hour || b.Per > Total:
			return fmt.Errorf("the budget of %s has no period (hour, day, month or total)", b.group())
		case b.Cost == 0 && b.Tokens == 0:
			return fmt.Errorf("the budget %s for %s limits nothing (give it a cost or tokens)", b.Per.phrase(), b.group())
		case !(b.Cost >= 0) || math.IsInf(b.Cost, 0) || b.Tokens < 0:
			return fmt.Errorf("%s has a negative or impossible figure", b)
		case b.Wait && b.Per == Total:
			return fmt.Errorf("%s can never be waited for: no other period follows (let runs end, or choose a period)", b)
		}
		for _, other := range all[:i] {
			if other.Label == b.Label && other.Per == b.Per && other != b {
				return fmt.Errorf("%s contradicts %s: the runs share one account, so both need the same figures and the same ending", b, other)
			}
		}
	}
	return nil
}

// String describes the budget, as in "the budget of $50 per day for each tenant".
func (b Budget) String() string {
	return fmt.Sprintf("the budget of %s %s for %s", b.Most(), b.Per.phrase(), b.group())
}

func (b Budget) group() string {
	if b.Label == "" {
		return "all runs"
	}
	return "each " + b.Label
}

// Most is the limit of the budget. Its zeros stand for no limit.
func (b Budget) Most() Amount {
	return Amount{Tokens: int64(b.Tokens), Cost: nanos(b.Cost)}
}

// Account is the account of a run with the labels, at a time.
func (b Budget) Account(labels map[string]string, at time.Time) Account {
	a := Account{Label: b.Label, Per: b.Per, Since: b.Per.Start(at)}
	if b.Label != "" {
		a.Value = labels[b.Label]
	}
	return a
}

// An Account is what the runs with one value of a label spend in one period.
type Account struct {
	Label, Value string // both empty: all runs
	Per          Period
	Since        time.Time // the beginning of the period; zero: of Total
}

// Name names the account in a ledger, as in "day 2026-11-26 tenant=acme".
func (a Account) Name() string {
	name := a.Per.String()
	if layout := a.Per.layout(); layout != "" {
		name += " " + a.Since.UTC().Format(layout)
	}
	if a.Label != "" {
		name += " " + a.Label + "=" + a.Value
	}
	return name
}

// Of is whose account it is, as in "tenant=acme".
func (a Account) Of() string {
	if a.Label == "" {
		return "all runs"
	}
	return a.Label + "=" + a.Value
}

// String describes the account, as in "tenant=acme per day".
func (a Account) String() string { return a.Of() + " " + a.Per.phrase() }

// Until is the end of the period; zero: it has none.
func (a Account) Until() time.Time { return a.Per.End(a.Since) }

// Parse reads the name of an account.
func Parse(name string) (a Account, err error) {
	per, rest, _ := strings.Cut(name, " ")
	if err := a.Per.UnmarshalText([]byte(per)); err != nil {
		return a, err
	}
	if layout := a.Per.layout(); layout != "" {
		var since string
		since, rest, _ = strings.Cut(rest, " ")
		if a.Since, err = time.Parse(layout, since); err != nil {
			return a, fmt.Errorf("account %q: %w", name, err)
		}
	}
	var labelled bool
	if a.Label, a.Value, labelled = strings.Cut(rest, "="); !labelled && rest != "" {
		return a, fmt.Errorf("account %q has no label", name)
	}
	return a, nil
}

// An Amount is what calls use: tokens, and billionths of a dollar, which add up exactly.
type Amount struct{ Tokens, Cost int64 }

// Of is the amount of tokens and dollars, never less than nothing.
func Of(tokens int, dollars float64) Amount {
	return Amount{Tokens: int64(max(0, tokens)), Cost: nanos(dollars)}
}

// nanos converts dollars to billionths.
func nanos(dollars float64) int64 {
	if !(dollars > 0) { // nor is it a NaN
		return 0
	}
	return int64(math.Round(min(dollars, 1e9) * 1e9))
}

// Plus is the sum of two amounts.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Cost + b.Cost} }

// Minus is the difference of two amounts.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Cost - b.Cost} }

// Dollars is the cost in dollars.
func (a Amount) Dollars() float64 { return float64(a.Cost) / 1e9 }

// Within reports whether the amount exceeds no limit of most. Zeros there are no limits.
func (a Amount) Within(most Amount) bool {
	return (most.Tokens == 0 || a.Tokens <= most.Tokens) && (most.Cost == 0 || a.Cost <= most.Cost)
}

// String writes an amount, without what is zero.
func (a Amount) String() string {
	switch {
	case a.Tokens == 0:
		return a.dollars()
	case a.Cost == 0:
		return a.tokens()
	}
	return a.dollars() + " and " + a.tokens()
}

func (a Amount) dollars() string { return display.Dollars(a.Dollars()) }

func (a Amount) tokens() string { return display.Group(int(a.Tokens)) + " tokens" }
