package expr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Value is what an expression evaluates to: nil, bool, string, a number
// ([json.Number]; float64, int and int64 are taken too), [time.Duration],
// []any or map[string]any, as encoding/json decodes them.
type Value = any

// Env defines names and functions.
type Env struct {
	Values map[string]Value
	Funcs  map[string]func(args []Value) (Value, error)

	// Strict makes it an error to compare a value that is missing or null, except with
	// null itself, to compare values of two types, and to take such a value for a
	// condition. An && or || that one term decides has no error then, whatever the other
	// terms are, after S. C. Kleene, On notation for ordinal numbers (1938).
	Strict bool
}

// Check reports the first unknown name or function of n, with its column and
// the nearest known one. It uses only the keys of env.
func Check(n Node, env Env) error {
	for n := range All(n) {
		switch n := n.(type) {
		case *Path:
			if _, ok := env.Values[n.Root]; !ok {
				return unknown(n.Column(), "name", n.Root, slices.Collect(maps.Keys(env.Values)))
			}
		case *Call:
			if _, ok := env.Funcs[n.Func]; !ok {
				return unknown(n.Column(), "function", n.Func, slices.Collect(maps.Keys(env.Funcs)))
			}
		}
	}
	return nil
}

func unknown(column int, what, name string, known []string) *Error {
	return Errorf(column, "unknown %s %s%s", what, name, DidYouMean(name, known))
}

// Eval evaluates n. A path to a missing value is null.
//
// Numbers are compared by exact value (1 == 1.0), lists and objects member by
// member; == between different types is false. Only numbers, strings (by bytes)
// and durations are ordered, each with their own type: <, <=, > and >= are
// false if a side is null and an error for other types. &&, || and ! take true,
// false and null, which counts as false, evaluate no more operands than needed,
// and return true or false. Errors are all *Error.
func Eval(n Node, env Env) (Value, error) {
	switch n := n.(type) {
	case *Number:
		return json.Number(n.Text), nil
	case *Duration:
		return n.Value, nil
	case *String:
		return n.Value, nil
	case *Bool:
		return n.Value, nil
	case *Null:
		return nil, nil
	case *Path:
		return lookup(n, env)
	case *Call:
		return call(n, env)
	case *Not:
		holds, err := Holds(n.X, env)
		return !holds && err == nil, err
	case *Compare:
		return compare(n, env)
	case *And:
		return all(n.Terms, env, true)
	case *Or:
		return all(n.Terms, env, false)
	}
	return nil, fmt.Errorf("no expression: %T", n)
}

// Holds evaluates n as a condition: null counts as false, and anything but
// true, false and null is an error.
func Holds(n Node, env Env) (bool, error) {
	v, err := Eval(n, env)
	if err != nil || v == nil && !env.Strict {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, Errorf(n.Column(), "expected true or false, but %s is %s", n, describe(v))
	}
	return b, nil
}

// all evaluates && over terms if unit is true, and || if it is false.
func all(terms []Node, env Env, unit bool) (Value, error) {
	var undecided error
	for _, n := range terms {
		holds, err := Holds(n, env)
		switch {
		case err != nil && env.Strict:
			undecided = cmp.Or(undecided, err)
		case err != nil || holds != unit:
			return holds, err
		}
	}
	return unit, undecided
}

func lookup(n *Path, env Env) (Value, error) {
	v, ok := env.Values[n.Root]
	if !ok {
		return nil, unknown(n.Column(), "name", n.Root, slices.Collect(maps.Keys(env.Values)))
	}
	for _, k := range n.Keys {
		switch in := v.(type) {
		case map[string]any:
			v = nil
			if !k.IsIndex {
				v = in[k.Name]
			}
		case []any:
			v = nil
			if k.IsIndex && k.Index < len(in) {
				v = in[k.Index]
			}
		default:
			return nil, nil
		}
	}
	return v, nil
}

func call(n *Call, env Env) (Value, error) {
	f, ok := env.Funcs[n.Func]
	if !ok {
		return nil, unknown(n.Column(), "function", n.Func, slices.Collect(maps.Keys(env.Funcs)))
	}
	args := make([]Value, len(n.Args))
	for i, a := range n.Args {
		v, err := Eval(a, env)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, err := f(args)
	if err != nil {
		return nil, Errorf(n.Column(), "%s: %v", n.Func, err)
	}
	return v, nil
}

func compare(n *Compare, env Env) (Value, error) {
	x, err := Eval(n.X, env)
	if err != nil {
		return nil, err
	}
	y, err := Eval(n.Y, env)
	if err != nil {
		return nil, err
	}
	if equality := n.Op == Eq || n.Op == Ne; env.Strict && !(equality && (isNull(n.X) || isNull(n.Y))) {
		if err := matching(n, x, y); err != nil {
			return nil, err
		}
	}
	switch {
	case n.Op == Eq:
		return equal(x, y), nil
	case n.Op == Ne:
		return !equal(x, y), nil
	case x == nil || y == nil:
		return false, nil
	}
	c, ok := order(x, y)
	if !ok {
		return nil, Errorf(n.Column(), "cannot order %s and %s with %s", describe(x), describe(y), n.Op)
	}
	return n.Op.Holds(c), nil
}

func isNull(n Node) bool {
	_, is := n.(*Null)
	return is
}

// matching returns an error for values that are missing or of two types.
func matching(n *Compare, x, y Value) error {
	switch {
	case x == nil:
		return Errorf(n.X.Column(), "%s is missing or null", n.X)
	case y == nil:
		return Errorf(n.Y.Column(), "%s is missing or null", n.Y)
	case describe(x) != describe(y):
		return Errorf(n.Column(), "%s is %s, and %s is %s", n.X, describe(x), n.Y, describe(y))
	}
	return nil
}

func order(x, y Value) (int, bool) {
	if a, ok := asNumber(x); ok {
		if b, ok := asNumber(y); ok {
			return compareNumbers(a, b), true
		}
		return 0, false
	}
	switch x := x.(type) {
	case string:
		y, ok := y.(string)
		return strings.Compare(x, y), ok
	case time.Duration:
		y, ok := y.(time.Duration)
		return cmp.Compare(x, y), ok
	}
	return 0, false
}

func equal(x, y Value) bool {
	if c, ok := order(x, y); ok {
		return c == 0
	}
	switch x := x.(type) {
	case nil:
		return y == nil
	case bool:
		y, ok := y.(bool)
		return ok && x == y
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case map[string]any:
		y, ok := y.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	}
	return false
}

func describe(v Value) string {
	if _, ok := asNumber(v); ok {
		return "a number"
	}
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case time.Duration:
		return "a duration"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}
