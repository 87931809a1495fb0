package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// spokenType is a type's name in a message, as %T writes it.
var spokenType = regexp.MustCompile(`(\*?)\b([a-z]\w*)\.([A-Za-z_]\w*)`)

// mostSpoken bounds the types taken from the messages.
const mostSpoken = 4

// spoken are the types that the failures' messages name and the file can name, too.
func (m *mutator) spoken() []string {
	var out []string
	for _, s := range spokenType.FindAllStringSubmatch(m.clues.text, -1) {
		text := s[0]
		var in *types.Package
		if pkg := m.pkg(); pkg != nil && s[2] == pkg.Name() {
			in, text = pkg, s[1]+s[3]
		} else if pkg != nil {
			_, o := pkg.Scope().Innermost(m.d.node.Pos()).LookupParent(s[2], token.NoPos)
			if p, ok := o.(*types.PkgName); ok {
				in = p.Imported()
			}
		}
		if in == nil || slices.Contains(out, text) || len(out) == mostSpoken {
			continue
		}
		if _, ok := in.Scope().Lookup(s[3]).(*types.TypeName); ok {
			out = append(out, text)
		}
	}
	return out
}

// oneMoreType adds a type that the messages name to those of a case, or one that another case
// of the package has beside them.
func (m *mutator) oneMoreType(n *ast.TypeSwitchStmt) {
	var have []string
	for _, s := range n.Body.List {
		for _, x := range s.(*ast.CaseClause).List {
			have = append(have, m.text(x))
		}
	}
	m.oneMoreClause(n, have)
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if len(c.List) == 0 {
			continue
		}
		last := c.List[len(c.List)-1]
		for i, t := range m.spoken() {
			if !slices.Contains(have, t) {
				m.replace(last.End(), last.End(), ", "+t, term, 0.9/(1+0.3*float64(i)), "missing in a case: %s", t)
			}
		}
	}
}

// oneMoreClause adds a clause for a type that the messages name: what another clause does with a
// text, done with the value's.
func (m *mutator) oneMoreClause(n *ast.TypeSwitchStmt, have []string) {
	bound, ok := n.Assign.(*ast.AssignStmt)
	if !ok || len(n.Body.List) == 0 {
		return
	}
	v := m.text(bound.Lhs[0])
	var calls [][2]string // around their argument
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if len(c.Body) != 1 {
			continue
		}
		x, ok := c.Body[0].(*ast.ExprStmt)
		if !ok {
			continue
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			continue
		}
		if info, known := m.basic(call.Args[0]); known && info&types.IsString != 0 {
			before, after, _ := strings.Cut(m.text(call), "("+m.text(call.Args[0])+")")
			calls = append(calls, [2]string{before, after})
		}
	}
	for _, t := range m.spoken() {
		if slices.Contains(have, t) {
			continue
		}
		for i, c := range calls[:min(len(calls), mostKin)] {
			for _, text := range []string{v + ".String()", "string(" + v + ")"} {
				m.replace(n.Body.List[0].Pos(), n.Body.List[0].Pos(), "case "+t+":\n"+c[0]+"("+text+")"+c[1]+"\n", term, 0.6/(1+0.2*float64(i)), "missing case %s: %s(%s)", t, c[0], text)
			}
		}
	}
}

// mostAsked bounds the questions that are asked of all operands at once.
const mostAsked = 3

// askedOfAll are the questions that the package asks elsewhere about a value, asked of every
// variable of its type in a condition: what is no number is no bound, whichever it is.
func (m *mutator) askedOfAll(x ast.Expr) []twin {
	var vars []*types.Var
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := m.g.info.Uses[id].(*types.Var); ok && !v.IsField() && !isGlobal(v) && !slices.Contains(vars, v) {
				vars = append(vars, v)
			}
		}
		return true
	})
	var out []twin
	for i, v := range vars {
		of := []*types.Var{v}
		for _, w := range vars[i+1:] {
			if types.Identical(v.Type(), w.Type()) {
				of = append(of, w)
			}
		}
		if len(of) < 2 || len(of) > mostAsked || len(m.asked("x", v.Type())) == 0 {
			continue
		}
		joined, weight := []string{}, 0.0
		for _, w := range of {
			q := m.asked(w.Name(), w.Type())[0]
			joined, weight = append(joined, q.text), q.weight
		}
		out = append(out, twin{strings.Join(joined, " || "), weight})
	}
	return out
}

// rangedGuards are guards of the package that are about one number alone, said of another
// variable of its type, with the question before them that the package asks about such numbers.
func (m *mutator) rangedGuards(v *types.Var) []twin {
	b, ok := v.Type().Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 {
		return nil
	}
	var out []twin
	for _, i := range m.g.ingredients(m.d.file.dir()).guards {
		if i.about == nil || !types.Identical(i.about.Type(), v.Type()) {
			continue
		}
		text := replaceWord(i.text, i.about.Name(), v.Name())
		w := m.near(i) * times(i.about.Name() == v.Name(), 2)
		out = append(out, twin{text, w})
		for _, q := range m.asked(v.Name(), v.Type())[:min(1, len(m.asked(v.Name(), v.Type())))] {
			if !strings.Contains(text, q.text) {
				out = append(out, twin{q.text + " || " + text, w * times(m.clues.says(q.text), 4)})
			}
		}
	}
	out = distinct(out)
	return out[:min(len(out), 6)]
}

// spoken favours code whose exported names, such as those of errors, are all in the messages.
func (c *clues) spoken(n ast.Node) float64 {
	said, named := true, false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.IsExported() {
			said, named = said && mentions(c.text, id.Name), true
		}
		return said
	})
	return times(said && named, 2.5)
}

// says reports whether the messages have the last word of the name of a function that is called
// in an expression, as NaN of math.IsNaN(x).
func (c *clues) says(call string) bool {
	name, _, _ := strings.Cut(call, "(")
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, prefix := range []string{"Is", "is", "Has", "has"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && len(rest) > 2 {
			name = rest
			break
		}
	}
	return len(name) > 2 && mentions(c.text, name)
}
