package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// An Edge of a graph leads from one node to another. It is taken when From has run
// and If holds. Join belongs to the node To, and is the same on all edges
// into it.
type Edge struct {
	From string `json:"from,omitempty" usual:"the beginning of the run" about:"node before"` // empty: the edge is taken when the run begins
	To   string `json:"to" such:"answer" about:"node after"`
	If   string `json:"if,omitempty" format:"expression" usual:"always" about:"the edge is taken only if this holds when 'from' is over"` // a condition; empty: always
	Join Join   `json:"join" optional:"true" enum:"all,any,first" min:"1" usual:"all" about:"edges into 'to' that must be taken: all that still can be, any, or a number, after which the others are cancelled ('first' is 1); the same on every edge into a node"`
}

// Join says how many edges into a node must be taken before it runs. A positive
// number is that many: the node then runs once, and nodes that only lead to it are
// cancelled, as with [First].
type Join int

// The joins. The zero value is JoinAll.
const (
	JoinAll Join = 0  // all, except those that can no longer be taken
	JoinAny Join = -1 // one; the node runs each time that edges are taken
	First   Join = 1  // one; the other nodes on the way to it are cancelled
)

// String returns the join as a spec has it.
func (j Join) String() string {
	switch j {
	case JoinAll:
		return "all"
	case JoinAny:
		return "any"
	case First:
		return "first"
	}
	return fmt.Sprint(int(j))
}

// MarshalJSON returns the join as a spec has it.
func (j Join) MarshalJSON() ([]byte, error) {
	if j > First {
		return json.Marshal(int(j))
	}
	return json.Marshal(j.String())
}

// UnmarshalText reads a join as a spec has it.
func (j *Join) UnmarshalText(text []byte) (err error) {
	for _, known := range []Join{JoinAll, JoinAny, First} {
		if string(text) == known.String() {
			*j = known
			return nil
		}
	}
	n, err := strconv.Atoi(string(text))
	*j = Join(n)
	return err
}

// race reports whether the node runs as soon as enough others have.
func (j Join) race() bool { return j > 0 }

// Graph returns the agent with the nodes as its loop. A node is a step. It runs when the edges
// into it are taken; nodes without such edges run first. All nodes that can run do so at the
// same time, and the next ones are chosen when all of them have finished. A node with Tool is a
// tool call of the run; every other node is a child run. Cycles need
// [pawl.Limits].Rounds: a run in which a node would run more often ends as exhausted.
//
// The result's output is that of the node that ran last; of several that ran together, of the
// one listed last. Everything else is as with [New].
func Graph(agent pawl.Agent, nodes []Step, edges ...Edge) pawl.Agent {
	loop, tools := compileGraph(agent, nodes, edges)
	loop.source, _ = json.Marshal(struct { // preparing the agent reports what cannot be written
		Nodes []Step `json:"nodes"`
		Edges []Edge `json:"edges,omitempty"`
	}{nodes, edges})
	return with(agent, loop, tools)
}

// graph is the nodes and edges of a compiled graph.
type graph struct {
	nodes  []*vertex
	byID   map[string]*vertex
	rounds int  // as declared
	lost   int  // edges from or to unknown nodes: what they may lead to is not reported
	opens  bool // one of them leads from the beginning
}

// A vertex is a node of a graph.
type vertex struct {
	*node
	in, out []*arc
	join    Join
	joinAt  spot      // the first edge into it, which says so
	races   []*vertex // the nodes that cancel it: it leads to nothing else
	cycle   int       // the same for nodes of one cycle; zero: it is in none
}

// An arc is an edge of a compiled graph.
type arc struct {
	from *vertex // nil: the beginning
	to   *vertex
	when expr.Node
	lost bool // the node it leads from is unknown
}

// joined is the name under which a node has the outputs of the nodes before it.
const joined = "joined"

// compileGraph returns the loop of a graph and its tools.
func compileGraph(agent pawl.Agent, nodes []Step, edges []Edge) (*Loop, []pawl.Tool) {
	l := &Loop{nodes: map[string]*node{}, graph: &graph{byID: map[string]*vertex{}, rounds: agent.Limits.Rounds}}
	c := newCompiler(agent, l)
	l.root = &block{}
	if len(nodes) == 0 {
		c.follows(spot{}, "nodes", 0, "there are no nodes (a graph needs at least one)")
	}
	for _, s := range nodes {
		c.collect([]*node{{Step: s, spot: nodeSpot(s.ID)}})
	}
	maps.Copy(c.seen, c.later)
	for _, s := range nodes {
		n := c.vertex(s)
		l.root.nodes, l.nodes[n.ID] = append(l.root.nodes, n), n
		v := &vertex{node: n}
		l.graph.nodes, l.graph.byID[n.ID] = append(l.graph.nodes, v), v
	}
	c.continues()
	if len(nodes) == 0 {
		return l, c.tools
	}
	for i := range edges {
		c.edge(i, &edges[i])
	}
	c.checkGraph(edges)
	return l, c.tools
}

// vertex compiles a node: a call of a tool or an agent, or a child run of any other
// step.
func (c *compiler) vertex(s Step) *node {
	n := c.declared(s, nodeSpot(s.ID), c.loop.root)
	s = n.Step
	does, _ := s.action()
	if (does == "agent" || does == "tool" && s.Weight == 0) && s.If == "" && s.Suspend == "" {
		c.loop.names = []string{joined}
		c.node(n)
		c.loop.names = nil
		return n
	}
	n.Step = Step{ID: s.ID} // the rest is the branch's
	n.arms = []*subflow{c.subflow(n.spot, s.ID, []Step{s}, []string{joined}, []string{"nodes"}, s.ID)}
	return n
}

// edge adds an edge.
func (c *compiler) edge(i int, e *Edge) {
	g := c.loop.graph
	ids := slices.Collect(maps.Keys(g.byID))
	to, from := g.byID[e.To], g.byID[e.From]
	at := e.spot(i)
	bad := func(key, format string, args ...any) { c.follows(at, key, 0, format, args...) }
	if to == nil {
		c.wrong(at, "to", 0, "there is no node %q%s", e.To, expr.DidYouMean(e.To, ids))
	}
	if from == nil && e.From != "" {
		c.wrong(at, "from", 0, "there is no node %q%s", e.From, expr.DidYouMean(e.From, ids))
	}
	a := &arc{from: from, to: to, lost: from == nil && e.From != ""}
	if to == nil || a.lost {
		g.lost++
		g.opens = g.opens || e.From == ""
	}
	if e.If != "" {
		a.when = c.expression(at, "if", e.If)
	}
	if to == nil {
		return
	}
	if !a.lost && slices.ContainsFunc(to.in, func(b *arc) bool { return !b.lost && b.from == from }) {
		bad("to", "there is another edge from here to %s (make one condition of both, with ||)", e.To)
	}
	if len(to.in) > 0 && to.join != e.Join {
		bad("join", "it is %v, and another edge into %s says %v (write the same join on all edges into a node)", e.Join, e.To, to.join)
	}
	if len(to.in) == 0 {
		to.joinAt = at
	}
	to.in, to.join = append(to.in, a), e.Join
	if from != nil {
		from.out = append(from.out, a)
	}
}

// spot returns where an edge is, by its index.
func (e *Edge) spot(i int) spot { return spotOf(e.From+" -> "+e.To, []string{"edges"}, i, "") }

// nodeSpot returns where a node is.
func nodeSpot(id string) spot { return spot{id, []string{"nodes", id}} }
