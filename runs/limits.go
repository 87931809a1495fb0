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

// Limits are ceilings as people say them: each is absolute or, with a sign,
// added to the one in force.
type Limits struct {
	Set   pawl.Limits
	Added pawl.Limits
}

// LimitForms says how ceilings are written.
const LimitForms = "iterations=N, tokens=N, time=30m, cost=2.00, tool_errors=N, depth=N, handoffs=N or rounds=N"

// mostIterations is as high as that ceiling goes.
const mostIterations = 10_000

// Say takes one ceiling by its name and its value, such as 30m, or +5 where the
// ceilings may be relative. The error says what is wrong with the value.
func (l *Limits) Say(name, value string, relative bool) error {
	to := &l.Set
	if plain, plus := strings.CutPrefix(value, "+"); plus {
		if !relative {
			return errors.New("a new run has nothing to add to; leave out the +")
		}
		value, to = plain, &l.Added
	}
	var err error
	switch name {
	case "iterations":
		if to.Iterations, err = count(value); err == nil && to.Iterations > mostIterations {
			err = fmt.Errorf("the most is %d", mostIterations)
		}
	case "tokens":
		to.Tokens, err = count(value)
	case "tool_errors":
		to.ToolErrors, err = count(value)
	case "depth":
		to.Depth, err = count(value)
	case "handoffs":
		to.Handoffs, err = count(value)
	case "rounds":
		to.Rounds, err = count(value)
	case "time":
		if to.Time, err = time.ParseDuration(value); err == nil && to.Time <= 0 {
			err = errors.New("it must be positive")
		}
	case "cost":
		if to.Cost, err = strconv.ParseFloat(value, 64); err != nil {
			err = fmt.Errorf("%q is no number", value)
		} else if to.Cost <= 0 || math.IsInf(to.Cost, 0) || math.IsNaN(to.Cost) {
			err = errors.New("it must be positive")
		}
	default:
		err = errors.New("there is no such limit")
	}
	if err != nil {
		return err
	}
	return nil
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

// Over returns the limits of a run after l is applied to its present ones; zero where l
// says nothing. A limit in dollars needs the price of the run's model; nil: it has none.
// lower, unless nil, lowers the limits of the run to the most that is allowed.
func (l Limits) Over(now pawl.Limits, price *pawl.Price, lower func(pawl.Limits) pawl.Limits) (pawl.Limits, error) {
	next := l.Set
	if l.Added.Iterations > 0 {
		next.Iterations = now.Iterations + l.Added.Iterations
	}
	if l.Added.Tokens > 0 {
		next.Tokens = now.Tokens + l.Added.Tokens
	}
	if l.Added.ToolErrors > 0 {
		next.ToolErrors = now.ToolErrors + l.Added.ToolErrors
	}
	if l.Added.Depth > 0 {
		next.Depth = now.Depth + l.Added.Depth
	}
	if l.Added.Handoffs > 0 {
		next.Handoffs = cmp.Or(now.Handoffs, team.DefaultHandoffs) + l.Added.Handoffs
	}
	if l.Added.Rounds > 0 {
		next.Rounds = now.Rounds + l.Added.Rounds
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
	case next.Tokens < 0 || next.ToolErrors < 0 || next.Depth < 0 || next.Handoffs < 0 || next.Rounds < 0 || next.Time < 0:
		return next, errors.New("what is added is more than can be counted")
	case next.Cost > 0 && price == nil:
		return next, errors.New("cost: the run's model has no price, so a ceiling in dollars cannot be held")
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

// capped sets the limits in next that differ between wanted and the lower ones capped.
func capped(next, wanted, held pawl.Limits) pawl.Limits {
	lower(&next.Iterations, held.Iterations, wanted.Iterations)
	lower(&next.Tokens, held.Tokens, wanted.Tokens)
	lower(&next.Time, held.Time, wanted.Time)
	lower(&next.Cost, held.Cost, wanted.Cost)
	lower(&next.ToolErrors, held.ToolErrors, wanted.ToolErrors)
	lower(&next.Depth, held.Depth, wanted.Depth)
	return next
}

// lower sets a ceiling that has been brought down.
func lower[T comparable](to *T, held, wanted T) {
	if held != wanted {
		*to = held
	}
}
