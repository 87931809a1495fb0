package stop

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// Any holds when one of the conditions does. It takes the outcome of the first
// success that holds, else of the first with a named outcome, else of the
// first. It needs at least one condition.
func Any(conditions ...pawl.Condition) pawl.Condition {
	terms, err := adopt("Any", conditions)
	if err != nil {
		return broken("any()", err)
	}
	return or(terms, 0)
}

// All holds when all of the conditions do. It is a success if one of them is,
// and otherwise has the first outcome among them. It needs at least one
// condition.
func All(conditions ...pawl.Condition) pawl.Condition {
	terms, err := adopt("All", conditions)
	if err != nil {
		return broken("all()", err)
	}
	return and(terms, 0)
}

// Not holds when the condition does not. It has no outcome of its own.
func Not(c pawl.Condition) pawl.Condition {
	terms, err := adopt("Not", []pawl.Condition{c})
	if err != nil {
		return broken("!nil", err)
	}
	return not(terms[0], 0)
}

// Success holds when the condition does, and ends the run as a success.
func Success(c pawl.Condition) pawl.Condition { return overridden("Success", c) }

// Exhausted holds when the condition does, and ends the run as exhausted.
func Exhausted(c pawl.Condition) pawl.Condition { return overridden("Exhausted", c) }

// Failed holds when the condition does, and ends the run as failed.
func Failed(c pawl.Condition) pawl.Condition { return overridden("Failed", c) }

func overridden(by string, c pawl.Condition) pawl.Condition {
	name := strings.ToLower(by)
	terms, err := adopt(by, []pawl.Condition{c})
	if err != nil {
		return broken(name+"(nil)", err)
	}
	return override(name, terms[0], 0)
}

// adopt converts conditions, including foreign ones, to terms.
func adopt(by string, conditions []pawl.Condition) ([]*condition, error) {
	if len(conditions) == 0 {
		return nil, fmt.Errorf("stop.%s has no condition: it wants at least one", by)
	}
	terms := make([]*condition, len(conditions))
	for i, c := range conditions {
		if c == nil {
			return nil, fmt.Errorf("stop.%s: condition %d of %d is nil", by, i+1, len(conditions))
		}
		own, ok := c.(*condition)
		if !ok {
			own = adoptForeign(c)
		}
		terms[i] = own
	}
	return terms, nil
}

func trees(terms []*condition) []expr.Node {
	nodes := make([]expr.Node, len(terms))
	for i, t := range terms {
		nodes[i] = t.tree
	}
	return nodes
}

func or(terms []*condition, at expr.At) *condition {
	if len(terms) == 1 {
		return terms[0]
	}
	var flat anyOf
	for _, t := range terms {
		if nested, ok := t.term.(anyOf); ok {
			flat = append(flat, nested...)
		} else {
			flat = append(flat, t)
		}
	}
	return newCondition(expr.MakeOr(at, trees(flat)...), flat, flat...)
}

func and(terms []*condition, at expr.At) *condition {
	if len(terms) == 1 {
		return terms[0]
	}
	var flat allOf
	for _, t := range terms {
		if nested, ok := t.term.(allOf); ok {
			flat = append(flat, nested...)
		} else {
			flat = append(flat, t)
		}
	}
	return newCondition(expr.MakeAnd(at, trees(flat)...), flat, flat...)
}

func not(c *condition, at expr.At) *condition {
	tree := &expr.Not{At: at, X: c.tree}
	return newCondition(tree, negation{c, tree.String()}, c)
}

// overrides are the functions that set a condition's outcome.
var overrides = map[string]pawl.Status{
	"success":   pawl.StatusSuccess,
	"exhausted": pawl.StatusExhausted,
	"failed":    pawl.StatusFailed,
}

func override(name string, c *condition, at expr.At) *condition {
	return newCondition(&expr.Call{At: at, Func: name, Args: []expr.Node{c.tree}}, outcome{c, overrides[name]}, c)
}

// anyOf is ||.
type anyOf []*condition

func (a anyOf) decide(s *pawl.State) decision {
	var best decision
	for _, t := range a {
		d := t.decide(s)
		if !d.holds || best.holds && d.rank() <= best.rank() {
			continue
		}
		best = d
		best.branch = t
		if d.status == pawl.StatusSuccess {
			break
		}
	}
	return best
}

// rank orders the terms of an || that hold: success, then a named outcome, then
// the rest.
func (d *decision) rank() int {
	switch {
	case d.status == pawl.StatusSuccess:
		return 2
	case d.explicit:
		return 1
	}
	return 0
}

func (a anyOf) facts(s *pawl.State) []string {
	if d := a.decide(s); d.holds {
		return d.branch.facts(s)
	}
	return allFacts(a, s)
}

func (a anyOf) check(agent pawl.Agent) error { return checkAll(a, agent) }

// allOf is &&.
type allOf []*condition

func (a allOf) decide(s *pawl.State) decision {
	all := decision{holds: true}
	for _, t := range a {
		d := t.decide(s)
		if !d.holds {
			return decision{}
		}
		if all.status == 0 || d.status == pawl.StatusSuccess && all.status != pawl.StatusSuccess {
			all.status, all.explicit = d.status, d.explicit
		}
		all.leaf = d.leaf
	}
	return all
}

func (a allOf) facts(s *pawl.State) []string { return allFacts(a, s) }
func (a allOf) check(agent pawl.Agent) error { return checkAll(a, agent) }

// negation is !.
type negation struct {
	*condition
	source string
}

func (n negation) decide(s *pawl.State) decision {
	if n.condition.decide(s).holds {
		return decision{}
	}
	return decision{holds: true, leaf: n.source}
}

// outcome is success(…), exhausted(…) or failed(…).
type outcome struct {
	*condition
	status pawl.Status
}

func (o outcome) decide(s *pawl.State) decision {
	d := o.condition.decide(s)
	if !d.holds {
		return d
	}
	return decision{holds: true, status: o.status, explicit: true, leaf: d.leaf}
}

// foreign is a condition from outside this package. Its parsed source is in the
// tree, so that printing brackets it correctly.
type foreign struct{ pawl.Condition }

func adoptForeign(c pawl.Condition) *condition {
	source := c.String()
	tree, err := expr.Parse(source)
	if err != nil {
		return broken(source, fmt.Errorf("the condition %s does not print as source that stop.Parse reads: %w", source, err))
	}
	return newCondition(tree, foreign{c})
}

func (f foreign) decide(s *pawl.State) decision {
	v := f.Eval(s)
	if !v.Holds {
		return decision{}
	}
	leaf := v.Leaf
	if leaf == "" {
		leaf = f.String()
	}
	return decision{holds: true, status: v.Status, explicit: v.Explicit, leaf: leaf}
}

func (f foreign) facts(s *pawl.State) []string {
	if v := f.Eval(s); v.Detail != "" {
		return []string{v.Detail}
	}
	return nil
}

func (f foreign) check(a pawl.Agent) error {
	if c, ok := f.Condition.(pawl.Checker); ok {
		return c.Check(a)
	}
	return nil
}
