package pawl

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pawl-run/pawl/internal/display"
)

// Limits are the limits of a run. A zero field takes its default; there is
// no way to have none of iterations, tokens and time.
type Limits struct {
	Iterations int           `wire:"iterations,omit"`  // model turns; default 20, at most 10,000
	Tokens     int           `wire:"tokens,omit"`      // input and output of all model calls; default 500,000
	Time       time.Duration `wire:"time,omit"`        // while running, not while waiting; default 30 minutes
	Cost       float64       `wire:"cost,omit"`        // dollars; zero: none. Needs a price for the model
	ToolErrors int           `wire:"tool_errors,omit"` // failing tool turns in a row; default 3
	Attempts   int           `wire:"attempts,omit"`    // failures of one class that a model call may have; default 4
	Margin     float64       `wire:"margin,omit"`      // fraction added to the estimate of an input; default 0.1. 3 reserves one token a byte
	Depth      int           `wire:"depth,omit"`       // child runs within child runs; default 10, negative: no child runs
	Handoffs   int           `wire:"handoffs,omit"`    // of a thread; zero: 5
	Rounds     int           `wire:"rounds,omit"`      // runs of each node of a graph; zero: the graph may have no cycle
}

const maxIterations = 10_000

func (l Limits) withDefaults() Limits {
	return Limits{Iterations: 20, Tokens: 500_000, Time: 30 * time.Minute, ToolErrors: 3, Attempts: 4, Margin: 0.1, Depth: 10}.Merge(l)
}

// Merge returns l with every field of m that is set.
func (l Limits) Merge(m Limits) Limits {
	return Limits{
		Iterations: cmp.Or(m.Iterations, l.Iterations), Tokens: cmp.Or(m.Tokens, l.Tokens), Time: cmp.Or(m.Time, l.Time),
		Cost: cmp.Or(m.Cost, l.Cost), ToolErrors: cmp.Or(m.ToolErrors, l.ToolErrors), Attempts: cmp.Or(m.Attempts, l.Attempts),
		Margin: cmp.Or(m.Margin, l.Margin), Depth: cmp.Or(m.Depth, l.Depth), Handoffs: cmp.Or(m.Handoffs, l.Handoffs), Rounds: cmp.Or(m.Rounds, l.Rounds),
	}
}

// The limits as the conditions they are.
func tokensLeaf(l Limits) string { return fmt.Sprintf("tokens >= %d", l.Tokens) }
func timeLeaf(l Limits) string   { return "elapsed >= " + display.Duration(l.Time) }
