package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// An Edge of a graph leads from one node to another. It is taken when From has run
// and If holds. Join belongs to the node To, and is the same on all edges
// into it.
type Edge struct {
	From string `json:"from,omitempty"` // empty: the edge is taken when the run begins
	To   string `json:"to"`
	If   string `json:"if,omitempty"` // a condition; empty: always
	Join Join   `json:"join"`
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
		c.wrong("", "nodes", 0, "there are no nodes (a graph needs at least one)")
	}
	c.collect(nodes)
	maps.Copy(c.seen, c.later)
	for _, s := range nodes {
		n := c.vertex(s, len(l.root.nodes))
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
func (c *compiler) vertex(s Step, at int) *node {
	s = c.asRun(s)
	n := &node{Step: s, in: c.loop.root, at: at}
	does, _, _ := s.misfits()
	if (does == "agent" || does == "tool" && s.Weight == 0) && s.If == "" && s.Suspend == "" {
		c.loop.names = []string{joined}
		c.node(n)
		c.loop.names = nil
		return n
	}
	n.Step = Step{ID: s.ID} // the rest is the branch's
	n.arms = []*subflow{c.subflow(s.ID, s.ID, []Step{s}, []string{joined}, s.ID)}
	return n
}

// edge adds an edge.
func (c *compiler) edge(i int, e *Edge) {
	g := c.loop.graph
	ids := slices.Collect(maps.Keys(g.byID))
	to, from := g.byID[e.To], g.byID[e.From]
	bad := func(key, format string, args ...any) {
		c.loop.errs = append(c.loop.errs, &Error{Edge: i + 1, Step: e.name(), Key: key, Message: fmt.Sprintf(format, args...)})
	}
	if to == nil {
		bad("to", "there is no node %q%s", e.To, expr.DidYouMean(e.To, ids))
	}
	if from == nil && e.From != "" {
		bad("from", "there is no node %q%s", e.From, expr.DidYouMean(e.From, ids))
	}
	a := &arc{from: from, to: to, lost: from == nil && e.From != ""}
	if to == nil || a.lost {
		g.lost++
		g.opens = g.opens || e.From == ""
	}
	if e.If != "" {
		before := len(c.loop.errs)
		a.when = c.expression(e.name(), "if", e.If)
		for _, err := range c.loop.errs[before:] {
			err.(*Error).Edge = i + 1
		}
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
	to.in, to.join = append(to.in, a), e.Join
	if from != nil {
		from.out = append(from.out, a)
	}
}

// name returns the edge for errors.
func (e *Edge) name() string { return e.From + " -> " + e.To }
