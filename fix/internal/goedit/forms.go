package goedit

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mostForms bounds the calls that are tried in the place of one expression.
const mostForms = 3

// gettersOf are the methods of a type, without arguments, that give a value of another, the
// likest name first.
func (m *mutator) gettersOf(t, result types.Type, like string) []twin {
	var out []twin
	set := types.NewMethodSet(addressable(t))
	for s := range set.Methods() {
		f, ok := s.Obj().(*types.Func)
		if !ok || !f.Exported() && f.Pkg() != m.pkg() || f.Name() == m.d.name && m.d.recv != "" {
			continue
		}
		in, res := f.Signature().Params(), f.Signature().Results()
		if in.Len() == 0 && res.Len() == 1 && types.Identical(res.At(0).Type(), result) {
			out = append(out, twin{f.Name() + "()", likeness(like, f.Name())})
		}
	}
	slices.SortStableFunc(out, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), mostForms)]
}

// computed proposes a method in the place of a field of its type: what is stored is not always
// what is meant.
func (m *mutator) computed(n *ast.SelectorExpr, stack []ast.Node) {
	sel := m.g.info.Selections[n]
	if sel == nil || sel.Kind() != types.FieldVal || hasCall(n.X) {
		return
	}
	switch p := parent(stack).(type) {
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, ast.Expr(n)) {
			return
		}
	case *ast.IncDecStmt, *ast.SelectorExpr:
		return
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return
		}
	}
	var twins []twin
	for _, g := range m.gettersOf(sel.Recv(), sel.Type(), n.Sel.Name) {
		twins = append(twins, twin{m.text(n.X) + "." + g.text, g.weight})
	}
	m.instead(n, twins, member, 0.22, "field")
}

// equal proposes a method that compares in the place of == and !=.
func (m *mutator) equal(n *ast.BinaryExpr) {
	t := m.typ(n.X)
	if n.Op != token.EQL && n.Op != token.NEQ || t == nil || !m.same(n.X, n.Y) || !isOperand(n.X) {
		return
	}
	switch t.Underlying().(type) {
	case *types.Basic, *types.Interface:
		return
	}
	not := ""
	if n.Op == token.NEQ {
		not = "!"
	}
	set := types.NewMethodSet(addressable(t))
	for s := range set.Methods() {
		f, ok := s.Obj().(*types.Func)
		if !ok || !f.Exported() && f.Pkg() != m.pkg() || f.Name() == m.d.name {
			continue
		}
		sig := f.Signature()
		if sig.Params().Len() == 1 && sig.Results().Len() == 1 && types.Identical(sig.Params().At(0).Type(), t) && types.Identical(sig.Results().At(0).Type(), types.Typ[types.Bool]) {
			w := 0.08
			if strings.HasPrefix(strings.ToLower(f.Name()), "equal") || strings.HasPrefix(strings.ToLower(f.Name()), "same") {
				w = 0.5
			}
			m.replace(n.Pos(), n.End(), not+m.text(n.X)+"."+f.Name()+"("+m.text(n.Y)+")", function, w, "%s → %s", n.Op, f.Name())
		}
	}
}

// initial proposes a value for a variable that is declared without one: a parameter, or what a
// parameter gives.
func (m *mutator) initial(n *ast.DeclStmt) {
	d, ok := n.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
		return
	}
	v, ok := d.Specs[0].(*ast.ValueSpec)
	if !ok || len(v.Names) != 1 || len(v.Values) > 0 || m.typ(v.Type) == nil || isError(m.typ(v.Type)) {
		return
	}
	name, t := v.Names[0].Name, m.typ(v.Type)
	var twins []twin
	for _, p := range m.locals(n.Pos()) {
		if p.Kind() != types.ParamVar && p != m.receiver() {
			continue
		}
		if types.Identical(p.Type(), t) {
			twins = append(twins, twin{p.Name(), likeness(name, p.Name()) * times(m.idle(p), 2)})
		}
		for _, g := range m.gettersOf(p.Type(), t, name) {
			twins = append(twins, twin{p.Name() + "." + g.text, 0.8 * g.weight})
		}
	}
	twins = distinct(twins)
	for i, x := range twins[:min(len(twins), mostForms)] {
		m.replace(n.Pos(), n.End(), name+" := "+x.text, wrong, 0.6*x.weight/(1+0.3*float64(i)), "missing value of %s: %s", name, x.text)
	}
}

// ignored proposes to return an error that an assignment throws away.
func (m *mutator) ignored(s *ast.AssignStmt, stack []ast.Node) {
	n := len(s.Lhs)
	if n < 2 || len(s.Rhs) != 1 || s.Tok != token.DEFINE {
		return
	}
	last, ok := s.Lhs[n-1].(*ast.Ident)
	call, isCall := s.Rhs[0].(*ast.CallExpr)
	if !ok || last.Name != "_" || !isCall {
		return
	}
	t, ok := m.typ(call).(*types.Tuple)
	sig, body := m.function(stack)
	if !ok || t.Len() != n || !isError(t.At(n-1).Type()) || sig == nil || sig.Results().Len() == 0 || !isError(sig.Results().At(sig.Results().Len()-1).Type()) {
		return
	}
	var exits []twin
	add := func(results []string, w float64) {
		results[len(results)-1] = "err"
		exits = append(exits, twin{"return " + strings.Join(results, ", "), w})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == sig.Results().Len() && m.text(r.Results[len(r.Results)-1]) != "nil" {
			var results []string
			for _, x := range r.Results {
				results = append(results, m.text(x))
			}
			add(results, 1.2)
		}
		_, nested := n.(*ast.FuncLit)
		return !nested
	})
	for _, z := range m.plain(sig, s.Pos())[:min(1, len(m.plain(sig, s.Pos())))] {
		add(strings.Split(z.text, ", "), 1)
	}
	head := string(m.d.file.src[m.g.offset(s.Pos()):m.g.offset(last.Pos())])
	exits = distinct(exits)
	for i, e := range exits[:min(len(exits), 2)] {
		text := head + "err := " + m.text(call) + "\nif err != nil {\n" + e.text + "\n}"
		m.replace(s.Pos(), s.End(), text, missing, 0.8*e.weight/(1+0.3*float64(i)), "error ignored: %s", firstLine(m.text(call)))
	}
}
