package stop

import (
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// Options configure what source may refer to.
type Options struct {
	// When holds the functions that when("NAME") may name. They must be pure.
	When map[string]func(*pawl.State) bool

	// Unresolved lets source name functions that are not in When, for reading
	// another program's conditions. Such a condition never holds and fails the
	// agent's check.
	Unresolved bool
}

// Parse reads a condition from source in the language described above. Its
// String returns the same source with normalised blanks and parentheses, and
// each literal as written. The error gives the problem, its column, counted in
// runes from 1, and the remedy. A nil o registers no functions.
func Parse(source string, o *Options) (pawl.Condition, error) {
	tree, err := expr.Parse(source)
	if err != nil {
		return nil, err
	}
	c, err := compile(tree, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// build returns the condition for a constructor's tree.
func build(tree expr.Node, o *Options) pawl.Condition {
	c, err := compile(tree, o)
	if err != nil {
		return broken(tree.String(), err)
	}
	return c
}

// The words of the language.
var (
	functions = map[string]func(*expr.Call, *Options) (*condition, error){
		"tool_called":  compileToolCalled,
		"text_matches": compileTextMatches,
		"stalled":      compileStalled,
		"when":         compileWhen,
	}
	words = slices.Concat([]string{"done", "user_said"}, slices.Collect(maps.Keys(measures)),
		slices.Collect(maps.Keys(overrides)), []string{"tool_called", "text_matches", "stalled", "when"})
	usage = map[string]string{
		"done":         `done || iterations >= 10`,
		"args":         `tool_called("NAME", args.x == 1)`,
		"tool_called":  `tool_called("NAME") or tool_called("NAME", args.x == 1)`,
		"text_matches": `text_matches("REGEX")`,
		"user_said":    `user_said("REGEX") >= 1`,
		"stalled":      `stalled(3)`,
		"when":         `when("NAME")`,
		"success":      `success(done)`,
		"exhausted":    `exhausted(done)`,
		"failed":       `failed(done)`,
	}
)

func compile(n expr.Node, o *Options) (*condition, error) {
	switch n := n.(type) {
	case *expr.Or:
		terms, err := compileAll(n.Terms, o)
		if err != nil {
			return nil, err
		}
		return or(terms, n.At), nil
	case *expr.And:
		terms, err := compileAll(n.Terms, o)
		if err != nil {
			return nil, err
		}
		return and(terms, n.At), nil
	case *expr.Not:
		x, err := compile(n.X, o)
		if err != nil {
			return nil, err
		}
		return not(x, n.At), nil
	case *expr.Compare:
		return compileCompare(n)
	case *expr.Call:
		return compileCall(n, o)
	case *expr.Path:
		return compilePath(n)
	}
	return nil, expr.Errorf(n.Column(), "expected a condition, found %s", n)
}

func compileAll(nodes []expr.Node, o *Options) ([]*condition, error) {
	terms := make([]*condition, len(nodes))
	for i, n := range nodes {
		t, err := compile(n, o)
		if err != nil {
			return nil, err
		}
		terms[i] = t
	}
	return terms, nil
}

func compilePath(n *expr.Path) (*condition, error) {
	if n.Root == "done" && len(n.Keys) == 0 {
		return newCondition(n, doneLeaf(n.String())), nil
	}
	return nil, misused(n.Column(), n.Root)
}

func compileCall(n *expr.Call, o *Options) (*condition, error) {
	if f, ok := functions[n.Func]; ok {
		return f(n, o)
	}
	if _, ok := overrides[n.Func]; ok {
		if len(n.Args) != 1 {
			return nil, misused(n.Column(), n.Func)
		}
		x, err := compile(n.Args[0], o)
		if err != nil {
			return nil, err
		}
		return override(n.Func, x, n.At), nil
	}
	return nil, misused(n.Column(), n.Func)
}

// misused returns the error for a name that is used as what it is not, or that
// is unknown.
func misused(column int, name string) error {
	use := usage[name]
	if m, ok := measures[name]; ok {
		use = m.example
	}
	if use == "" {
		return expr.Errorf(column, "unknown condition %s%s", name, expr.DidYouMean(name, words))
	}
	return expr.Errorf(column, "%s is used as in %s", name, use)
}

// stringArg returns the string that is the first of at most most arguments.
func stringArg(n *expr.Call, most int) (*expr.String, error) {
	if len(n.Args) < 1 || len(n.Args) > most {
		return nil, misused(n.Column(), n.Func)
	}
	s, ok := n.Args[0].(*expr.String)
	if !ok {
		return nil, expr.Errorf(n.Args[0].Column(), "expected a string in quotes, found %s, in %s", n.Args[0], usage[n.Func])
	}
	if s.Value == "" {
		return nil, expr.Errorf(s.Column(), "expected a string that is not empty, as in %s", usage[n.Func])
	}
	return s, nil
}
