package runs

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/team"
)

// Limits are changes of limits as a person writes them: each is absolute or, with a sign, added
// to the limit in force.
type Limits struct {
	Set   pawl.Limits
	Added pawl.Limits
}

// LimitForms says how limits are written.
const LimitForms = "iterations=N, tokens=N, time=30m, cost=2.00, tool_errors=N, attempts=N, margin=0.1, depth=N, handoffs=N or rounds=N"

// Bounds of a limit: the most iterations, and of every number.
const (
	mostIterations = 10_000
	mostOfAll      = 1 << 62
)

// Say sets one limit by its name and its value, such as 30m, or +5 if relative is set. The
// error says what is wrong with the value.
func (l *Limits) Say(name, value string, relative bool) error {
	to := &l.Set
	if plain, plus := strings.CutPrefix(value, "+"); plus {
		if !relative {
			return errors.New("a new run has nothing to add to; leave out the +")
		}
		value, to = plain, &l.Added
	}
	err := errors.New("the limit is unknown")
	*to = meter.Combine(*to, pawl.Limits{}, func(known string, v, _ float64) float64 {
		if known == name {
			v, err = number(name, value)
		}
		return v
	})
	return err
}

// number parses the value of a limit, in nanoseconds if it is a time.
func number(name, text string) (v float64, err error) {
	switch name {
	case "time":
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration such as 5s or 5m", text)
		}
		v = float64(d)
	case "cost", "margin":
		if v, err = strconv.ParseFloat(text, 64); err != nil {
			return 0, fmt.Errorf("%q is not a number", text)
		}
	default:
		n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is not a whole number", text)
		case n < 1:
			return 0, errors.New("it must be at least 1")
		case name == "iterations" && n > mostIterations:
			return 0, fmt.Errorf("the most is %d", mostIterations)
		}
		v = float64(n)
	}
	switch {
	case v <= 0 || v != v:
		return 0, errors.New("it must be positive")
	case v > mostOfAll:
		return 0, errors.New("it is too large")
	}
	return v, nil
}

// Over returns the limits of a run after l is applied to its present ones; fields that l does
// not mention are zero. A limit in dollars needs the price of the run's model; nil: it has
// none. lower, unless nil, reduces the limits to the most that is allowed.
func (l Limits) Over(now pawl.Limits, price *pawl.Price, lower func(pawl.Limits) pawl.Limits) (pawl.Limits, error) {
	now.Handoffs = cmp.Or(now.Handoffs, team.DefaultHandoffs)
	much := false
	next := l.Set.Merge(meter.Combine(now, l.Added, func(_ string, now, added float64) float64 {
		much = much || added > 0 && now+added > mostOfAll
		if added == 0 || much {
			return 0
		}
		return now + added
	}))
	if l.Added.Cost > 0 {
		next.Cost = meter.Dollars(next.Cost)
	}
	switch {
	case much:
		return next, errors.New("the sum is too large; add less")
	case next.Iterations > mostIterations:
		return next, fmt.Errorf("iterations would be %d; the most is %d", next.Iterations, mostIterations)
	case next.Cost > 0 && price == nil:
		return next, errors.New("cost: the run's model has no price, so a limit in dollars cannot be enforced; give the model a price")
	case lower != nil:
		wanted := now.Merge(next)
		next = next.Merge(meter.Combine(wanted, lower(wanted), func(_ string, wanted, held float64) float64 {
			if held == wanted {
				return 0
			}
			return held
		}))
	}
	return next, nil
}

// PriceOf is the price of a model; nil: it has none.
func PriceOf(m pawl.Model) *pawl.Price {
	if d, ok := m.(pawl.Describer); ok {
		return d.Describe().Price
	}
	return nil
}
