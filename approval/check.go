package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// problem is an error in a rule.
type problem struct {
	rule string
	err  error
}

func (p *problem) Error() string { return "policy " + p.rule + ": " + p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

// wantTools requires each pattern to be valid and to match a tool.
func wantTools(a pawl.Agent, patterns []string, own bool) error {
	if len(patterns) == 0 {
		return errors.New(`it names no tool (give a name or a pattern such as "delete_*")`)
	}
	var errs []error
	for _, p := range patterns {
		errs = append(errs, wantTool(a, p, own))
	}
	return errors.Join(errs...)
}

func wantTool(a pawl.Agent, pattern string, own bool) error {
	if pattern == "" {
		return errors.New("a pattern is empty (write the name of a tool, or * for all)")
	}
	for _, r := range pattern {
		if foreign(r) {
			return fmt.Errorf("%q is not a valid pattern: no tool has a %q in its name (write letters, digits, _ and -, * for any characters and ? for one)", pattern, r)
		}
	}
	if naming.OfMachine(pattern) && own {
		return nil // the machine decides whether to add its tools
	}
	if naming.OfMachine(pattern) {
		return fmt.Errorf("%q names a tool of the machine, which changes nothing and needs no approval", pattern)
	}
	names := toolNames(a)
	if slices.ContainsFunc(names, func(name string) bool { return naming.Match(pattern, name) }) {
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("no tool fits %q: the agent has none", pattern)
	}
	near, open := naming.Nearest(pattern, naming.Alike(pattern, names)), strings.ContainsAny(pattern, "*?")
	if open && !strings.ContainsAny(near, "*?") { // not a slip: it guards tools that may come
		return nil
	}
	if near != "" {
		return fmt.Errorf("no tool fits %q (did you mean %s?)", pattern, near)
	}
	return fmt.Errorf("no tool fits %q%s", pattern, expr.DidYouMean("", names))
}

// foreign reports whether a character is invalid in patterns.
func foreign(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-*?", r))
}

// toolNames returns the names of the agent's tools, and of those of sub-agents and
// of its team, to which its rules also apply.
func toolNames(a pawl.Agent) (names []string) {
	for _, t := range a.Tools {
		if h, ok := t.(interface{ Team() []*pawl.Agent }); ok {
			for _, mate := range h.Team() {
				names = append(names, ownNames(*mate)...)
			}
		}
	}
	names = append(names, ownNames(a)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// ownNames is toolNames without the team.
func ownNames(a pawl.Agent) (names []string) {
	for _, t := range a.Tools {
		names = append(names, t.Info().Name)
		if d, ok := t.(pawl.Delegate); ok {
			names = append(names, ownNames(d.Agent())...)
		}
	}
	return names
}

func wantEffects(effects []pawl.Effect) error {
	if len(effects) == 0 {
		return errors.New("it names no effect (give pawl.Write, for one)")
	}
	for _, e := range effects {
		if e < pawl.Read || e > pawl.Write {
			return fmt.Errorf("%d is not an effect (use pawl.Read, pawl.Idempotent or pawl.Write)", int(e))
		}
	}
	return nil
}

func wantFunc(name string, f func(*pawl.State, pawl.Classified) bool) error {
	if strings.TrimSpace(name) == "" {
		return errors.New("it has no name (the approver is shown it)")
	}
	if f == nil {
		return errors.New("its function is nil")
	}
	return nil
}

// checkPredicate reports the errors in a predicate that do not depend on an
// agent.
func checkPredicate(tree expr.Node) error {
	if err := expr.Check(tree, expr.Env{Values: map[string]expr.Value{"args": nil}}); err != nil {
		return err
	}
	looks := false
	for n := range expr.All(tree) {
		switch n := n.(type) {
		case *expr.Duration:
			return expr.Errorf(n.Column(), "no argument is a duration (write a number)")
		case *expr.Path:
			looks = true
		}
	}
	if !looks {
		return expr.Errorf(tree.Column(), "it looks at no argument (write something such as args.amount > 100)")
	}
	return nil
}

// wantPredicate requires that the tools exist, the predicate is valid, and the
// arguments it uses are declared if the schema allows no others. Otherwise the
// rule would ask about every call of the tool.
func wantPredicate(a pawl.Agent, pattern string, tree expr.Node, err error) error {
	if err := errors.Join(wantTool(a, pattern, false), err); err != nil {
		return err
	}
	var errs []error
	for _, t := range a.Tools {
		info := t.Info()
		if !naming.Match(pattern, info.Name) {
			continue
		}
		for _, err := range expr.Undeclared(info.Name, info.Input, tree) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
