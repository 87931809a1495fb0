// Package expr is the expression language of stop conditions, approval gates
// and workflow steps: paths, literals, function calls, comparisons and the
// connectives && || !.
//
//	tool_called("submit_po", args.amount > 100) && confidence >= 0.9 || elapsed > 1h30m
//
// The ! binds before comparisons, comparisons before &&, and && before ||.
// Comparisons do not chain. There is no arithmetic, so a hyphen may stand
// inside a name (steps.fetch-data.output).
//
// The package does not define what names mean: [Eval] takes values and
// functions from an [Env]; other callers walk the tree.
package expr

import (
	"iter"
	"time"
)

// Node is one node of a parsed expression: [*Number], [*Duration], [*String],
// [*Bool], [*Null], [*Path], [*Call], [*Not], [*Compare], [*And] or [*Or].
type Node interface {
	// Column is the node's position in its source, counted in runes from 1. An
	// operator's is that of its sign.
	Column() int

	// String returns source that parses to the same tree: one blank around
	// binary operators, no unneeded parentheses, literals as written.
	String() string

	precedence() precedence
}

// At is the column of a node.
type At int

// Column implements Node.
func (a At) Column() int { return int(a) }

// Number is a JSON number. Its text is kept, so that no digit is lost.
type Number struct {
	At
	Text string
}

// Duration is a span of time such as 30s, 2m or 1h30m.
type Duration struct {
	At
	Value time.Duration
	Text  string // as written; empty means the shortest spelling
}

// String is a string literal.
type String struct {
	At
	Value string
	Text  string // as written, with its quotes; empty means Quote(Value)
}

// Bool is true or false.
type Bool struct {
	At
	Value bool
}

// Null is null.
type Null struct {
	At
}

// Path is a name with keys or indices: args, args.amount, steps.fetch.output["a
// key"][0].
type Path struct {
	At
	Root string
	Keys []Key
}

// Key is one step of a path: a member of an object, or an element of a list.
type Key struct {
	Name    string
	Index   int // counted from 0
	IsIndex bool
}

// Call is a function call.
type Call struct {
	At
	Func string
	Args []Node
}

// Not is !X.
type Not struct {
	At
	X Node
}

// Compare is X Op Y.
type Compare struct {
	At
	Op   Op
	X, Y Node
}

// And is its two or more terms joined by &&, none of which is an And itself.
type And struct {
	At
	Terms []Node
}

// Or is its two or more terms joined by ||, none of which is an Or itself.
type Or struct {
	At
	Terms []Node
}

// MakeOr joins terms with ||. A term that is an Or itself is replaced by its
// terms; a single term is returned unchanged.
func MakeOr(at At, terms ...Node) Node {
	if len(terms) == 1 {
		return terms[0]
	}
	return &Or{At: at, Terms: flattened[*Or](terms)}
}

// MakeAnd joins terms with &&, as [MakeOr] does with ||.
func MakeAnd(at At, terms ...Node) Node {
	if len(terms) == 1 {
		return terms[0]
	}
	return &And{At: at, Terms: flattened[*And](terms)}
}

// flattened returns terms with those of a type replaced by theirs.
func flattened[T Node](terms []Node) (flat []Node) {
	for _, n := range terms {
		if _, same := n.(T); same {
			flat = append(flat, children(n)...)
		} else {
			flat = append(flat, n)
		}
	}
	return flat
}

// Op is a comparison.
type Op int

// The comparisons.
const (
	Eq Op = iota + 1
	Ne
	Lt
	Le
	Gt
	Ge
)

var opText = [...]string{Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}

// String is the sign of the comparison.
func (o Op) String() string {
	if o < Eq || o > Ge {
		return "?"
	}
	return opText[o]
}

// Flip returns the comparison that holds for (b, a) exactly when o holds for
// (a, b).
func (o Op) Flip() Op {
	switch o {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return o
}

// Holds reports whether the comparison holds for two values with the order c:
// negative for less, zero for equal, positive for greater.
func (o Op) Holds(c int) bool {
	switch {
	case c < 0:
		return o == Lt || o == Le || o == Ne
	case c > 0:
		return o == Gt || o == Ge || o == Ne
	}
	return o == Eq || o == Le || o == Ge
}

// All yields n and every node below it, parents first, left to right.
func All(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { walk(n, yield) }
}

func walk(n Node, yield func(Node) bool) bool {
	if !yield(n) {
		return false
	}
	for _, child := range children(n) {
		if !walk(child, yield) {
			return false
		}
	}
	return true
}

func children(n Node) []Node {
	switch n := n.(type) {
	case *Call:
		return n.Args
	case *Not:
		return []Node{n.X}
	case *Compare:
		return []Node{n.X, n.Y}
	case *And:
		return n.Terms
	case *Or:
		return n.Terms
	}
	return nil
}
