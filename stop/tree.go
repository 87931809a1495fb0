package stop

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Node is a condition, or a part of one, evaluated in a state. It shows
// people what holds and what is missing.
type Node struct {
	// Source is the condition as written.
	Source string `json:"source"`
	Kind   Kind   `json:"kind"`
	Holds  bool   `json:"holds"`
	// Outcome is the status the condition gives the run when it holds; zero: it
	// has no outcome of its own.
	Outcome pawl.Status `json:"outcome,omitempty"`
	// Detail describes what in the state decides.
	Detail string `json:"detail,omitempty"`
	// Used and Limit are the two numbers of a comparison, time in seconds; nil:
	// the node is not a comparison, or the number is unknown.
	Used     *pawl.Decimal `json:"used,omitempty"`
	Limit    *pawl.Decimal `json:"limit,omitempty"`
	Children []Node        `json:"children,omitempty"`

	explicit bool // the outcome was named
}

// Kind is how a node depends on its children.
type Kind int

// The kinds.
const (
	KindAny      Kind = 1 + iota // holds when one child does
	KindAll                      // holds when all children do
	KindNot                      // holds when its only child does not
	KindOverride                 // holds when its only child does, with another outcome
	KindLeaf                     // has no children
)

var kindNames = naming.NewEnum[Kind]("kind", []string{"any", "all", "not", "override", "leaf"})

// String returns the kind's name.
func (k Kind) String() string { return kindNames.String(k) }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the kind's name.
func (k *Kind) UnmarshalText(text []byte) error { return kindNames.Unmarshal(k, text) }

// Tree evaluates a condition in a state. A condition from another package is a
// leaf.
func Tree(c pawl.Condition, s *pawl.State) Node {
	own, ok := c.(*condition)
	if !ok {
		own = adoptForeign(c)
	}
	return own.node(s)
}

func (c *condition) node(s *pawl.State) Node {
	n := Node{Source: c.source, Kind: KindLeaf}
	if c.err != nil {
		n.Detail = c.err.Error()
		return n
	}
	d := c.decide(s)
	n.Holds, n.Outcome, n.explicit = d.holds, d.status, d.explicit
	parts := func(kind Kind, of ...*condition) {
		n.Kind = kind
		for _, part := range of {
			n.Children = append(n.Children, part.node(s))
		}
	}
	switch t := c.term.(type) {
	case anyOf:
		parts(KindAny, t...)
	case allOf:
		parts(KindAll, t...)
	case negation:
		parts(KindNot, t.condition)
	case outcome:
		parts(KindOverride, t.condition)
		n.Outcome = t.status
	case *leaf:
		n.Outcome = t.outcome
		if t.measured != nil {
			if used, known := t.measured(s); known {
				n.Used = new(pawl.Decimal(used))
			}
			n.Limit = new(pawl.Decimal(t.limit))
		}
		n.Detail = t.tell(s)
	default:
		n.Detail = strings.Join(c.facts(s), ", ")
	}
	return n
}

// Whole shows everything that can end a run in a state, as far as its log says:
// the goal, the stop condition, the limits, the final answer, and stuck
// detection. A when("NAME") is unknown and never holds. The root holds when one
// of its children does, which need not end the run: a goal refutes an answer,
// and a limit ends only the step that would exceed it.
func Whole(s *pawl.State) Node {
	root := Node{Source: "the run", Kind: KindAny}
	best := 0
	rank := func(n Node) int {
		switch {
		case n.Source == "done": // an answer precedes terms without a named outcome
			return 2
		case n.Outcome == pawl.StatusSuccess:
			return 4
		case n.explicit:
			return 3
		}
		return 1
	}
	add := func(n Node) {
		root.Children = append(root.Children, n)
		if r := rank(n); n.Holds && r > best {
			root.Holds, root.Outcome, root.Detail, best = true, n.Outcome, n.Detail, r
		}
	}
	read := func(source string) (Node, bool) {
		if source == "" {
			return Node{}, false
		}
		c, err := Parse(source, &Options{Unresolved: true})
		if err != nil {
			return Node{Source: source, Kind: KindLeaf, Detail: err.Error()}, true
		}
		return Tree(c, s), true
	}
	d := s.Declaration()
	if n, ok := read(d.Goal); ok {
		if _, measured := s.Metric(); !measured {
			n.Holds = false
		}
		n.Outcome = pawl.StatusSuccess
		add(n)
	}
	if n, ok := read(s.StopSource()); ok {
		add(n)
	}
	l := s.Limits()
	for _, c := range ceilings(l) {
		add(Tree(c, s))
	}
	add(Tree(Done(), s))
	for i, policy := range d.Policies {
		if d.PolicyInfo[i].Kind != "no_progress" {
			continue
		}
		v := s.Verdict()
		add(Node{
			Source: policy, Kind: KindLeaf, Outcome: pawl.StatusNoProgress, Holds: v.Status == pawl.StatusNoProgress && v.Leaf != toolErrors(l).String(),
			Detail: display.Count(s.Stalled(), "turn") + " in a row repeated the one before",
		})
	}
	// What ended the run need not hold by itself: a workflow is done without an
	// answer, and a limit refuses a step before the limit is reached.
	if v := s.Verdict(); s.Status().Ended() && !root.Holds && v.Leaf != "" {
		ended := slices.IndexFunc(root.Children, func(n Node) bool { return n.Source == v.Leaf })
		if ended < 0 {
			ended = len(root.Children)
			root.Children = append(root.Children, Node{Source: v.Leaf, Kind: KindLeaf})
		}
		n := &root.Children[ended]
		n.Holds, n.Outcome, n.Detail = true, v.Status, v.Detail
		root.Holds, root.Outcome, root.Detail = true, v.Status, v.Detail
	}
	return root
}

func toolErrors(l pawl.Limits) pawl.Condition { return ToolErrors(l.ToolErrors) }

// ceilings returns the limits of a run as conditions.
func ceilings(l pawl.Limits) []pawl.Condition {
	all := []pawl.Condition{toolErrors(l), Iterations(l.Iterations), Tokens(l.Tokens), Elapsed(l.Time)}
	if l.Cost > 0 {
		all = append(all, Cost(l.Cost))
	}
	return all
}
