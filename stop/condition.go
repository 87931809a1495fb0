package stop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// condition implements every condition of this package: its meaning, and the
// tree it prints as.
type condition struct {
	term
	tree   expr.Node
	source string
	err    error // why the condition is invalid
	broken bool  // it or a part of it is invalid: it never holds, not even negated
}

// term is the meaning of a condition: a leaf, anyOf, allOf, negation, override
// or foreign.
type term interface {
	decide(*pawl.State) decision

	// facts describes for people what in the state decides, whether it holds or
	// not.
	facts(*pawl.State) []string

	check(pawl.Agent) error
}

// decision is a verdict without its text, which is written only for the verdict
// that ends the run.
type decision struct {
	holds    bool
	status   pawl.Status
	explicit bool // success(…), exhausted(…) or failed(…) set the status
	leaf     string
	branch   *condition // the term that an || selected
}

func newCondition(tree expr.Node, t term, parts ...*condition) *condition {
	c := &condition{term: t, tree: tree, source: tree.String()}
	for _, p := range parts {
		c.broken = c.broken || p.broken
	}
	return c
}

// broken represents an invalid condition.
func broken(source string, err error) *condition {
	return &condition{tree: &expr.Path{Root: source}, source: source, err: err, broken: true}
}

// String returns the condition as source.
func (c *condition) String() string { return c.source }

// Eval implements pawl.Condition.
func (c *condition) Eval(s *pawl.State) pawl.Verdict {
	d := c.decide(s)
	if !d.holds {
		return pawl.Verdict{}
	}
	branch := cmp.Or(d.branch, c)
	return pawl.Verdict{
		Holds:     true,
		Status:    cmp.Or(d.status, pawl.StatusExhausted),
		Condition: branch.source,
		Leaf:      d.leaf,
		Detail:    strings.Join(distinct(branch.facts(s)), ", "),
		Explicit:  d.explicit,
	}
}

// Check implements pawl.Checker: it reports every error in the condition, and
// every leaf that can never hold in the agent.
func (c *condition) Check(a pawl.Agent) error {
	if err := c.check(a); err != nil {
		return err
	}
	// A condition built in code can be deeper or longer than source may be. A
	// run whose condition cannot be parsed again cannot be resumed.
	if _, err := expr.Parse(c.source); err != nil {
		return fmt.Errorf("the condition prints as what does not parse: %w", err)
	}
	return nil
}

func (c *condition) decide(s *pawl.State) decision {
	if c.broken {
		return decision{}
	}
	return c.term.decide(s)
}

func (c *condition) check(a pawl.Agent) error {
	if c.err != nil {
		return c.err
	}
	return c.term.check(a)
}

// distinct drops repeated facts.
func distinct(facts []string) []string {
	var out []string
	for _, f := range facts {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

func checkAll(terms []*condition, a pawl.Agent) error {
	var errs []error
	for _, t := range terms {
		errs = append(errs, t.check(a))
	}
	return errors.Join(errs...)
}

func allFacts(terms []*condition, s *pawl.State) []string {
	var facts []string
	for _, t := range terms {
		facts = append(facts, t.facts(s)...)
	}
	return facts
}
