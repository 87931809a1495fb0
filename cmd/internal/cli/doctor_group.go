package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A group is runs that have the same trouble.
type group struct {
	n     int
	first string
	names []string // of some of their agents
}

// mostNames is how many agents of a group are named.
const mostNames = 5

func (g *group) add(h pawl.Head) {
	if g.n++; g.n == 1 {
		g.first = h.Run
	}
	if len(g.names) < mostNames && !slices.Contains(g.names, h.Agent) {
		g.names = append(g.names, h.Agent)
	}
}

// grouped is the runs of a query that have a trouble.
func grouped(ctx context.Context, j store, q pawl.Query, trouble func(pawl.Head) bool) (g group, err error) {
	for h, err := range j.List(ctx, q) {
		if err != nil {
			return g, err
		}
		if trouble(h) {
			g.add(h)
		}
	}
	return g, nil
}

// String names the agents and one run.
func (g *group) String() string { return fmt.Sprintf("such as %s of %s", g.first, g.agents()) }

func (g *group) agents() string { return strings.Join(g.names, ", ") }

// verb counts runs, with a verb.
func verb(n int, one, many string) string {
	if n == 1 {
		return "1 run " + one
	}
	return fmt.Sprintf("%d runs %s", n, many)
}
