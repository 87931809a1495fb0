package workflow

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// checkGraph finds nodes that can never run and cycles that may never end, and which
// nodes a race can make needless.
func (c *compiler) checkGraph(edges []Edge) {
	g := c.loop.graph
	from := func(v *vertex) []*vertex { return g.reach(next(v), nil) }
	begin := slices.DeleteFunc(slices.Clone(g.nodes), func(v *vertex) bool { return !v.begins() })
	if len(begin) == 0 && !g.opens {
		c.follows(spot{}, "edges", 0, "no node begins: an edge leads into each (add an edge such as {to: %s}, without from)", g.nodes[0].ID)
	}
	whole := len(begin) > 0 && g.lost == 0 // which nodes are reached is known
	odd := slices.ContainsFunc(edges, func(e Edge) bool { return e.Join < JoinAny })
	for i, v := range g.nodes {
		if v.cycle > 0 {
			continue
		}
		for _, u := range from(v) {
			if slices.Contains(from(u), v) {
				u.cycle, v.cycle = i+1, i+1
			}
		}
	}
	reached, runs := g.reach(begin, nil), g.runnable()
	bad := func(v *vertex, format string, args ...any) { c.follows(v.joinAt, "join", 0, format, args...) }
	for _, v := range g.nodes {
		need, inside := v.need(), slices.Clone(v.in)
		inside = slices.DeleteFunc(inside, func(a *arc) bool { return a.from == nil || a.from.cycle != v.cycle })
		switch {
		case v.join < JoinAny || int(v.join) > len(v.in)+g.lost:
			bad(v, "it is %d, and %s has %s into it (write all, any, first, or a number up to that)", int(v.join), v.ID, display.Count(len(v.in), "edge"))
		case !whole:
		case !slices.Contains(reached, v):
			c.follows(v.spot, "id", 0, "no edges lead from the beginning to this node (add one, or remove the node)")
		case !odd && !slices.Contains(runs, v) && v.stuck(runs):
			bad(v, "it is %v, so %s waits for %s, which waits for %s in turn (write join: any)", v.join, v.ID, waitsFor(v, runs), v.ID)
		case v.cycle > 0 && len(inside) < need:
			bad(v, "it is %v, and only %d of the %d edges into %s are within its cycle: it runs once and then waits for ever (write join: any)", v.join, len(inside), len(v.in), v.ID)
		}
		if v.cycle > 0 && g.rounds == 0 {
			c.follows(v.spot, "rounds", 0, "the node is in a cycle without a bound (set limits.rounds, the most times that a node runs)")
			g.rounds = -1 // say it once
		}
		if v.join.race() {
			g.race(v)
		}
	}
}

// begins reports whether a node runs when the run begins.
func (v *vertex) begins() bool {
	return len(v.in) == 0 || slices.ContainsFunc(v.in, func(a *arc) bool { return a.from == nil })
}

// need returns how many edges into a node must be taken before it runs.
func (v *vertex) need() int {
	switch v.join {
	case JoinAll:
		return len(v.in)
	case JoinAny:
		return min(1, len(v.in))
	}
	return int(v.join)
}

func next(v *vertex) (list []*vertex) {
	for _, a := range v.out {
		list = append(list, a.to)
	}
	return list
}

// reach returns the nodes that edges lead to from some nodes, and those, without going
// through one.
func (g *graph) reach(nodes []*vertex, without *vertex) (reached []*vertex) {
	for _, v := range nodes {
		if v != without && !slices.Contains(reached, v) {
			reached = append(reached, v)
		}
	}
	for i := 0; i < len(reached); i++ {
		for _, v := range next(reached[i]) {
			if v != without && !slices.Contains(reached, v) {
				reached = append(reached, v)
			}
		}
	}
	return reached
}

// runnable returns the nodes that run if every condition holds.
func (g *graph) runnable() (runs []*vertex) {
	for again := true; again; {
		again = false
		for _, v := range g.nodes {
			if !slices.Contains(runs, v) && v.ahead(runs) >= v.need() {
				runs, again = append(runs, v), true
			}
		}
	}
	return runs
}

// ahead counts the edges into a node that are taken if some nodes run.
func (v *vertex) ahead(runs []*vertex) (n int) {
	for _, a := range v.in {
		if a.from == nil || slices.Contains(runs, a.from) {
			n++
		}
	}
	return n
}

// stuck reports whether a node waits although an edge into it is taken.
func (v *vertex) stuck(runs []*vertex) bool { return v.ahead(runs) > 0 }

// waitsFor names the nodes that a node waits for.
func waitsFor(v *vertex, runs []*vertex) string {
	var ids []string
	for _, a := range v.in {
		if a.from != nil && !slices.Contains(runs, a.from) {
			ids = append(ids, a.from.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// race finds the nodes that lead only to j, which runs as soon as enough of them have.
func (g *graph) race(j *vertex) {
	for _, v := range g.nodes {
		if v == j || !slices.Contains(g.reach(next(v), nil), j) {
			continue
		}
		others := g.reach([]*vertex{v}, j)
		if !slices.ContainsFunc(others, func(u *vertex) bool { return len(u.out) == 0 }) {
			v.races = append(v.races, j)
		}
	}
}
