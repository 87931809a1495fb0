package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// limits are ceilings as they are typed: each is absolute or, with a sign,
// added to the one in force.
type limits struct {
	set   pawl.Limits
	added pawl.Limits
	given bool
}

const limitForms = "iterations=N, tokens=N, time=30m, cost=2.00 or tool_errors=N"

// parseLimits reads what --limit was given, each a list with commas.
func parseLimits(texts []string, relative bool) (limits, error) {
	var l limits
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			if err := l.read(strings.TrimSpace(part), relative); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

func (l *limits) read(part string, relative bool) error {
	key, value, ok := strings.Cut(part, "=")
	if !ok {
		return misuse("--limit: %s: write %s", part, limitForms)
	}
	to := &l.set
	if plain, plus := strings.CutPrefix(value, "+"); plus {
		if !relative {
			return misuse("--limit: %s: a new run has nothing to add to; leave out the +", part)
		}
		value, to = plain, &l.added
	}
	var err error
	switch key {
	case "iterations":
		if to.Iterations, err = count(value); err == nil && to.Iterations > mostIterations {
			err = fmt.Errorf("the most is %d", mostIterations)
		}
	case "tokens":
		to.Tokens, err = count(value)
	case "tool_errors":
		to.ToolErrors, err = count(value)
	case "time":
		if to.Time, err = time.ParseDuration(value); err == nil && to.Time <= 0 {
			err = fmt.Errorf("it must be longer than nothing")
		}
	case "cost":
		if to.Cost, err = strconv.ParseFloat(value, 64); err == nil && (to.Cost <= 0 || math.IsInf(to.Cost, 0) || math.IsNaN(to.Cost)) {
			err = fmt.Errorf("it must be more than nothing")
		}
	default:
		err = fmt.Errorf("there is no such limit")
	}
	if err != nil {
		return misuse("--limit: %s: %v; write %s", part, err, limitForms)
	}
	l.given = true
	return nil
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no whole number", text)
	case n < 1:
		return 0, fmt.Errorf("it must be at least 1")
	}
	return n, nil
}

// mostIterations is as high as that ceiling goes.
const mostIterations = 10_000

// over is what the limits come to for a run with other ones, zero where they
// say nothing.
func (l limits) over(now pawl.Limits, price *pawl.Price) (pawl.Limits, error) {
	next := l.set
	if l.added.Iterations > 0 {
		next.Iterations = now.Iterations + l.added.Iterations
	}
	if l.added.Tokens > 0 {
		next.Tokens = now.Tokens + l.added.Tokens
	}
	if l.added.ToolErrors > 0 {
		next.ToolErrors = now.ToolErrors + l.added.ToolErrors
	}
	if l.added.Time > 0 {
		next.Time = now.Time + l.added.Time
	}
	if l.added.Cost > 0 {
		next.Cost = now.Cost + l.added.Cost
	}
	switch {
	case next.Iterations > mostIterations:
		return next, misuse("--limit: iterations would be %d; the most is %d", next.Iterations, mostIterations)
	case next.Cost > 0 && price == nil:
		return next, misuse("--limit: cost: the run's model has no price, so a ceiling in dollars cannot be held")
	}
	return next, nil
}

// parseLabels reads what --label was given.
func parseLabels(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, misuse("--label: %q: write KEY=VALUE", text)
		}
		labels[key] = value
	}
	return labels, nil
}
