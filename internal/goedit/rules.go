package goedit

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// mutator collects the sites of one declaration.
type mutator struct {
	g     *graph
	d     *decl
	sites []site
}

// mutate returns every change that the rules make to d, in source order. The
// weights are priors: how often a fault of that kind is the one, by judgement.
func mutate(g *graph, d *decl) []site {
	m := &mutator{g: g, d: d}
	if _, ok := d.node.(*ast.TypeSpec); ok {
		return nil
	}
	ast.PreorderStack(d.node, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			m.operator(n, stack)
		case *ast.UnaryExpr:
			m.unNegate(n)
		case *ast.BasicLit:
			m.constant(n, stack)
		case *ast.IndexExpr:
			m.index(n)
		case *ast.SliceExpr:
			m.slice(n)
		case *ast.CallExpr:
			m.length(n, stack)
		case *ast.IncDecStmt:
			m.incDec(n)
		case *ast.AssignStmt:
			m.assign(n)
		case *ast.Ident:
			m.truth(n, stack)
		case *ast.IfStmt:
			m.negate(n.Cond, 0.6)
		case *ast.ForStmt:
			if n.Cond != nil {
				m.negate(n.Cond, 0.3)
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if m.isBool(r) {
					m.negate(r, 0.45)
				}
			}
		case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
			return false // nothing that runs; a length is part of the type
		}
		return true
	})
	return m.sites
}

// replace records that the source from from to end becomes with.
func (m *mutator) replace(from, end token.Pos, with string, c class, weight float64, rule string, args ...any) {
	m.sites = append(m.sites, site{
		file: m.d.file, from: m.g.offset(from), end: m.g.offset(end), line: m.g.line(from),
		with: with, rule: fmt.Sprintf(rule, args...), class: c, weight: weight,
	})
}

func (m *mutator) text(n ast.Node) string {
	return string(m.d.file.src[m.g.offset(n.Pos()):m.g.offset(n.End())])
}

// operand is the text of x, in parentheses when an operator follows that
// binds as strongly as x's own or more.
func (m *mutator) operand(x ast.Expr) string {
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op.Precedence() < token.ADD.Precedence() {
		return "(" + m.text(x) + ")"
	}
	return m.text(x)
}

func (m *mutator) basic(x ast.Expr) (types.BasicInfo, bool) {
	t := m.g.info.Types[x].Type
	if t == nil || t == types.Typ[types.Invalid] {
		return 0, false
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info(), b.Kind() != types.Invalid
	}
	_, param := t.(*types.TypeParam)
	return 0, !param // a type parameter may stand for a number
}

// isBool tells whether x is surely a bool and more than a constant.
func (m *mutator) isBool(x ast.Expr) bool {
	info, known := m.basic(x)
	return known && info&types.IsBoolean != 0 && m.g.info.Types[x].Value == nil
}

// numeric tells whether an operator of numbers may stand beside x: true when
// the type is not known and the syntax does not say otherwise.
func (m *mutator) numeric(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsNumeric != 0
	}
	return !isString(x)
}

// integer is numeric, and not surely a float.
func (m *mutator) integer(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsInteger != 0 || info&types.IsUntyped != 0 && info&types.IsNumeric != 0
	}
	l, ok := x.(*ast.BasicLit)
	return m.numeric(x) && (!ok || l.Kind == token.INT)
}

// ordered tells whether < may stand beside x.
func (m *mutator) ordered(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsOrdered != 0 && info&types.IsUntyped == 0 || m.g.info.Types[x].Value != nil && info&types.IsOrdered != 0
	}
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name != "nil" && x.Name != "true" && x.Name != "false" && x.Name != "err"
	case *ast.CompositeLit, *ast.FuncLit:
		return false
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.NOT
	}
	return true
}

func isString(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.ParenExpr:
		return isString(x.X)
	case *ast.BinaryExpr:
		return isString(x.X) || isString(x.Y)
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && id.Name == "string"
	}
	return false
}

// parent returns the innermost of the nodes around, or nil.
func parent(stack []ast.Node) ast.Node {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// small returns the value of an integer literal.
func small(x ast.Expr) (int64, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Value, 0, 32)
	return n, err == nil
}
