package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// converted proposes a conversion where the kind of a number or of a character matters: a
// difference of unsigned numbers, a text that is cut by bytes.
func (m *mutator) converted(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		info, known := m.basic(n.X)
		if !known || m.g.info.Types[n].Value != nil {
			return
		}
		if n.Op == token.SUB && info&types.IsUnsigned != 0 {
			m.replace(n.Pos(), n.End(), "int("+m.text(n.X)+") - int("+m.text(n.Y)+")", order, 0.25, "difference of int")
		}
		if n.Op == token.QUO && info&types.IsInteger != 0 && !isLiteral(n.Y) {
			m.replace(n.Pos(), n.End(), "float64("+m.text(n.X)+") / float64("+m.text(n.Y)+")", order, 0.3, "division of float64")
		}
	case *ast.RangeStmt:
		// A loop over a text has the indexes of bytes; one over its characters counts them.
		if m.isText(n.X) && !hasCall(n.X) {
			m.replace(n.X.Pos(), n.X.End(), "[]rune("+m.text(n.X)+")", bounds, 0.2, "loop over characters of %s", m.text(n.X))
		}
	case *ast.SliceExpr:
		if m.isText(n.X) && !n.Slice3 {
			m.replace(n.Pos(), n.End(), "string([]rune("+m.text(n.X)+")"+strings.TrimPrefix(m.text(n), m.text(n.X))+")", bounds, 0.2, "cut by characters, not bytes")
		}
	case *ast.IndexExpr:
		if m.isText(n.X) {
			m.replace(n.X.Pos(), n.X.End(), "[]rune("+m.text(n.X)+")", bounds, 0.12, "character, not byte, of %s", m.text(n.X))
		}
	}
}

func (m *mutator) isText(x ast.Expr) bool {
	info, known := m.basic(x)
	return known && info&types.IsString != 0 && m.g.info.Types[x].Value == nil
}

// related proposes a function that the package asks with elsewhere in the place of == and !=,
// and errors.Is for errors.
func (m *mutator) related(n *ast.BinaryExpr) {
	if n.Op != token.EQL && n.Op != token.NEQ {
		return
	}
	t := m.typ(n.X)
	if t == nil || m.text(n.Y) == "nil" || m.text(n.X) == "nil" {
		return
	}
	not := ""
	if n.Op == token.NEQ {
		not = "!"
	}
	ask := func(f string, weight float64) {
		m.replace(n.Pos(), n.End(), not+f+"("+m.text(n.X)+", "+m.text(n.Y)+")", function, weight, "%s → %s", n.Op, f)
	}
	if isError(t) && m.imported("errors") {
		ask("errors.Is", 0.6)
	}
	for i, r := range m.g.ingredients(m.d.file.dir()).relations {
		if types.Identical(r.typ, t) && r.text != m.d.name && r.text != "errors.Is" {
			ask(r.text, 0.3/(1+0.3*float64(i)))
		}
	}
}

// collectCall collects the calls that may be put around other values of a type: those of one
// such value that give another, whatever constants they take besides, and those that compare
// two of them.
func (in *ingredients) collectCall(g *graph, n *ast.CallExpr, text func(ast.Node) string, put func(*[]ingredient, string, string, types.Type)) {
	if n.Ellipsis.IsValid() || !isOperand(n.Fun) || g.info.Types[n.Fun].IsType() && len(n.Args) != 1 {
		return
	}
	result := g.info.Types[n].Type
	if result == nil {
		return
	}
	if b, ok := result.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 && len(n.Args) == 2 {
		x, y := g.info.Types[n.Args[0]], g.info.Types[n.Args[1]]
		if sig, ok := g.info.Types[n.Fun].Type.(*types.Signature); ok && x.Type != nil && y.Type != nil && sig.Recv() == nil && sig.Params().Len() == 2 && !sig.Variadic() &&
			types.Identical(sig.Params().At(0).Type(), sig.Params().At(1).Type()) && types.Identical(x.Type, y.Type) {
			put(&in.relations, text(n.Fun), "", x.Type)
		}
		return
	}
	if b, ok := result.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 && len(n.Args) == 1 {
		if x := g.info.Types[n.Args[0]]; x.Type != nil && x.Value == nil && !g.info.Types[n.Fun].IsType() {
			put(&in.predicates, text(n.Fun), "", x.Type)
		}
		return
	}
	at := -1
	for i, x := range n.Args {
		switch tv := g.info.Types[x]; {
		case tv.Value != nil && tv.Type != nil:
		case at < 0 && tv.Type != nil && types.Identical(tv.Type, result):
			at = i
		default:
			return
		}
	}
	if at < 0 {
		return
	}
	before, after := text(n.Fun)+"(", ")"
	for i, x := range n.Args {
		switch {
		case i < at:
			before += text(x) + ", "
		case i > at:
			after = after[:len(after)-1] + ", " + text(x) + ")"
		}
	}
	if !strings.Contains(before+after, "\n") {
		put(&in.wrappers, before, after, result)
	}
}
