package runs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
const LimitForms = "iterations=N, tokens=N, time=30m, cost=2.00, tool_errors=N, depth=N, handoffs=N or rounds=N"

// mostIterations is the highest limit of iterations.
const mostIterations = 10_000

// counts are the limits that are whole numbers.
var counts = map[string]func(*pawl.Limits) *int{
	"iterations":  func(l *pawl.Limits) *int { return &l.Iterations },
	"tokens":      func(l *pawl.Limits) *int { return &l.Tokens },
	"tool_errors": func(l *pawl.Limits) *int { return &l.ToolErrors },
	"depth":       func(l *pawl.Limits) *int { return &l.Depth },
	"handoffs":    func(l *pawl.Limits) *int { return &l.Handoffs },
	"rounds":      func(l *pawl.Limits) *int { return &l.Rounds },
}

// Say sets one limit by its name and its value, such as 30m, or +5 if relative is set. The
// error says what is wrong with the value.
func (l *Limits) Say(name, value string, relative bool) (err error) {
	to := &l.Set
	if plain, plus := strings.CutPrefix(value, "+"); plus {
		if !relative {
			return errors.New("a new run has nothing to add to; leave out the +")
		}
		value, to = plain, &l.Added
	}
	switch of := counts[name]; {
	case of != nil:
		*of(to), err = count(value)
		if name == "iterations" && to.Iterations > mostIterations {
			err = fmt.Errorf("the most is %d", mostIterations)
		}
	case name == "time":
		if to.Time, err = time.ParseDuration(value); err != nil {
			err = fmt.Errorf("%q is not a duration such as 5s or 5m", value)
		} else if to.Time <= 0 {
			err = errors.New("it must be positive")
		}
	case name == "cost":
		if to.Cost, err = strconv.ParseFloat(value, 64); err != nil {
			err = fmt.Errorf("%q is not a number", value)
		} else if to.Cost <= 0 || math.IsInf(to.Cost, 0) || math.IsNaN(to.Cost) {
			err = errors.New("it must be positive")
		}
	default:
		err = errors.New("the limit is unknown")
	}
	return err
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a whole number", text)
	case n < 1:
		return 0, errors.New("it must be at least 1")
	}
	return n, nil
}

var errMuch = errors.New("the sum is too large; add less")

// Over returns the limits of a run after l is applied to its present ones; fields that l does
// not mention are zero. A limit in dollars needs the price of the run's model; nil: it has
// none. lower, unless nil, reduces the limits to the most that is allowed.
func (l Limits) Over(now pawl.Limits, price *pawl.Price, lower func(pawl.Limits) pawl.Limits) (pawl.Limits, error) {
	next := l.Set
	now.Handoffs = cmp.Or(now.Handoffs, team.DefaultHandoffs)
	for _, of := range counts {
		if added := *of(&l.Added); added > 0 {
			*of(&next) = *of(&now) + added
		}
		if *of(&next) < 0 {
			return next, errMuch
		}
	}
	if l.Added.Time > 0 {
		next.Time = now.Time + l.Added.Time
	}
	if l.Added.Cost > 0 {
		next.Cost = meter.Dollars(now.Cost + l.Added.Cost)
	}
	switch {
	case next.Iterations > mostIterations:
		return next, fmt.Errorf("iterations would be %d; the most is %d", next.Iterations, mostIterations)
	case next.Time < 0:
		return next, errMuch
	case next.Cost > 0 && price == nil:
		return next, errors.New("cost: the run's model has no price, so a limit in dollars cannot be enforced; give the model a price")
	case lower != nil:
		wanted := now.Merge(next)
		next = capped(next, wanted, lower(wanted))
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

// capped sets the limits in next that differ between wanted and the lower ones held.
func capped(next, wanted, held pawl.Limits) pawl.Limits {
	for _, of := range counts {
		if *of(&held) != *of(&wanted) {
			*of(&next) = *of(&held)
		}
	}
	if held.Time != wanted.Time {
		next.Time = held.Time
	}
	if held.Cost != wanted.Cost {
		next.Cost = held.Cost
	}
	return next
}
