package goedit

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// twin is what may have been meant in the place of a name.
type twin struct {
	text   string
	weight float64
}

// mostTwins bounds the names tried in one place; further names are less alike.
const mostTwins = 8

// instead proposes the likeliest twins in the place of n, each weighing less
// than the one before.
func (m *mutator) instead(n ast.Expr, twins []twin, c class, weight float64, what string) {
	slices.SortStableFunc(twins, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	old := m.text(n)
	for i, t := range twins[:min(len(twins), mostTwins)] {
		m.replace(n.Pos(), n.End(), t.text, c, weight*t.weight/(1+0.25*float64(i)), "%s %s → %s", what, old, t.text)
	}
}

// ident proposes other variables, constants and functions of the same type for
// a name.
func (m *mutator) ident(n *ast.Ident, stack []ast.Node) {
	o := m.g.info.Uses[n]
	if o == nil || o.Pkg() == nil || o.Type() == nil || n.Name == "_" {
		return
	}
	what, kind := "variable", variable
	switch o := o.(type) {
	case *types.Var:
		if o.IsField() {
			return
		}
	case *types.Const:
		what, kind = "constant", wrong
	case *types.Func:
		what, kind = "function", function
		if o.Signature().Recv() != nil {
			return
		}
	default:
		return
	}
	weight, assigned := 0.34, false
	if p, ok := parent(stack).(*ast.AssignStmt); ok && slices.Contains(p.Lhs, ast.Expr(n)) {
		if p.Tok == token.DEFINE {
			return
		}
		weight, assigned = 0.24, true
	}
	if id, ok := parent(stack).(*ast.UnaryExpr); ok && id.Op == token.AND {
		weight = 0.15
	}
	if _, ok := parent(stack).(*ast.SelectorExpr); ok && o == m.receiver() {
		weight = 0.28 // r.x is less often another's x
	}
	var twins []twin
	for _, v := range m.visible(n.Pos()) {
		if v == o || !types.Identical(v.Type(), o.Type()) || v.Pos() == m.d.name0() {
			continue
		}
		if isSentinel(v) && assigned {
			continue
		}
		w := likeness(n.Name, v.Name())
		_, fn := v.(*types.Func)
		if _, was := o.(*types.Func); was != fn {
			continue
		}
		switch {
		case isGlobal(v) && !isGlobal(o):
			w *= 0.5
		case m.idle(v):
			w *= 2.5
		}
		twins = append(twins, twin{v.Name(), w})
	}
	if _, ok := o.(*types.Var); ok {
		twins = append(twins, m.membersLike(n)...)
	}
	_, selected := parent(stack).(*ast.SelectorExpr)
	if !selected {
		twins = append(twins, m.fieldsLike(n, n.Name)...)
	}
	m.instead(n, twins, kind, weight, what)
}

// membersLike are the receiver's fields of the type of a variable.
func (m *mutator) membersLike(n *ast.Ident) []twin {
	r := m.receiver()
	if r == nil || r.Name() == "" || r.Name() == "_" {
		return nil
	}
	s := structOf(r.Type())
	var out []twin
	for i := range fieldsOf(s) {
		f := s.Field(i)
		if types.Identical(f.Type(), m.typ(n)) {
			w := 0.6 * likeness(n.Name, f.Name())
			if f.Name() == n.Name {
				w = 1.5
			}
			out = append(out, twin{r.Name() + "." + f.Name(), w})
		}
	}
	return out
}

// fieldsLike are the fields of the other variables at hand of the type of x.
func (m *mutator) fieldsLike(x ast.Expr, called string) []twin {
	t := m.typ(x)
	if t == nil {
		return nil
	}
	var out []twin
	for _, v := range m.locals(x.Pos()) {
		s := structOf(v.Type())
		if s == nil || v == m.receiver() {
			continue
		}
		for i := range fieldsOf(s) {
			f := s.Field(i)
			with := v.Name() + "." + f.Name()
			if (f.Exported() || f.Pkg() == m.pkg()) && types.Identical(f.Type(), t) && with != m.text(x) {
				out = append(out, twin{with, 0.6 * likeness(called, f.Name()) * times(m.idle(v) || m.reads[v] == 0, 2)})
			}
		}
	}
	return out
}

// selector proposes other members of the same type for a selected one.
func (m *mutator) selector(n *ast.SelectorExpr) {
	t := m.typ(n)
	if t == nil {
		return
	}
	var twins []twin
	add := func(o types.Object) {
		if o.Name() != n.Sel.Name && o.Name() != "_" && (o.Exported() || o.Pkg() != nil && o.Pkg() == m.pkg()) && types.Identical(o.Type(), t) {
			twins = append(twins, twin{o.Name(), likeness(n.Sel.Name, o.Name())})
		}
	}
	what, kind, weight := "member of a package", member, 0.34
	if id, ok := n.X.(*ast.Ident); ok {
		if p, ok := m.g.info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, name := range scope.Names() {
				switch o := scope.Lookup(name).(type) {
				case *types.Func:
					if add(o); sameArguments(o.Type(), t) && likeness(n.Sel.Name, o.Name()) > relative {
						twins = append(twins, twin{o.Name(), 0.5 * likeness(n.Sel.Name, o.Name())})
					}
				case *types.Const, *types.Var:
					add(o)
				}
			}
			m.instead(n.Sel, twins, function, weight, what)
			return
		}
	}
	sel := m.g.info.Selections[n]
	if sel == nil {
		return
	}
	switch sel.Kind() {
	case types.FieldVal:
		what, weight = "field", 0.36
		s := structOf(sel.Recv())
		for i := range fieldsOf(s) {
			add(s.Field(i))
		}
		m.instead(n, m.fieldsLike(n, n.Sel.Name), member, 0.3, "field")
		for _, v := range m.locals(n.Pos()) {
			if types.Identical(v.Type(), t) {
				w := 0.5 * likeness(n.Sel.Name, v.Name())
				if m.idle(v) {
					w *= 3
				}
				m.replace(n.Pos(), n.End(), v.Name(), member, 0.3*w, "field %s → variable %s", m.text(n), v.Name())
			}
		}
	case types.MethodVal:
		what, kind = "method", function
		set := types.NewMethodSet(addressable(sel.Recv()))
		for s := range set.Methods() {
			add(s.Obj())
		}
	}
	m.instead(n.Sel, twins, kind, weight, what)
}

// relative is the likeness from which a function with other results may have been meant, as
// ParseUint for ParseInt: where it fits, the compiler says.
const relative = 1.4

// sameArguments reports whether two functions take the same and give something else.
func sameArguments(a, b types.Type) bool {
	f, ok1 := a.(*types.Signature)
	g, ok2 := b.(*types.Signature)
	return ok1 && ok2 && f.Variadic() == g.Variadic() && types.Identical(f.Params(), g.Params()) && !types.Identical(f.Results(), g.Results())
}

func (m *mutator) pkg() *types.Package { return m.g.pkgs[m.d.file.dir()] }

func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

func fieldsOf(s *types.Struct) int {
	if s == nil {
		return 0
	}
	return s.NumFields()
}

func addressable(t types.Type) types.Type {
	if _, ok := t.Underlying().(*types.Pointer); ok || types.IsInterface(t) {
		return t
	}
	return types.NewPointer(t)
}

// receiver is the variable of the method's receiver, or nil.
func (m *mutator) receiver() *types.Var {
	fn, ok := m.d.node.(*ast.FuncDecl)
	if !ok || fn.Recv == nil || len(fn.Recv.List) == 0 || len(fn.Recv.List[0].Names) == 0 {
		return nil
	}
	v, _ := m.g.info.Defs[fn.Recv.List[0].Names[0]].(*types.Var)
	return v
}

// idle reports whether a local variable is never read where it is declared: an unused
// parameter was probably forgotten.
func (m *mutator) idle(v types.Object) bool {
	if m.reads == nil {
		m.reads = map[types.Object]int{}
		ast.Inspect(m.d.node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if o := m.g.info.Uses[id]; o != nil {
					m.reads[o]++
				}
			}
			return true
		})
	}
	p, ok := v.(*types.Var)
	return ok && !isGlobal(v) && m.reads[v] == 0 && p.Kind() == types.ParamVar
}

// name0 is the position of a variable that a declaration declares and cannot use.
func (d *decl) name0() token.Pos {
	if s, ok := d.node.(*ast.ValueSpec); ok {
		return s.Names[0].Pos()
	}
	return token.NoPos
}
