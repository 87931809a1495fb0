package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// unlocked proposes to release a lock before a return that keeps it.
func (m *mutator) unlocked(n *ast.ReturnStmt, stack []ast.Node) {
	_, body := m.function(stack)
	if body == nil {
		return
	}
	for _, s := range body.List {
		if s.Pos() > n.Pos() {
			break
		}
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			continue
		}
		c, ok := e.X.(*ast.CallExpr)
		if !ok {
			continue
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Lock" && sel.Sel.Name != "RLock" || hasCall(sel.X) {
			continue
		}
		un := m.text(sel.X) + "." + strings.Replace(sel.Sel.Name, "Lock", "Unlock", 1) + "()"
		between := string(m.d.file.src[m.g.offset(s.End()):m.g.offset(n.Pos())])
		if strings.Contains(between, "defer "+un) || strings.HasSuffix(strings.TrimRight(between, " \t\n"), un) {
			continue
		}
		m.before(n, un, missing, 0.3*times(m.clues.hangs, 3), "missing: %s", un)
	}
}

// unset proposes to make a map or slice where it is declared without a value.
func (m *mutator) unset(n *ast.DeclStmt, stack []ast.Node) {
	d, ok := n.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
		return
	}
	v, ok := d.Specs[0].(*ast.ValueSpec)
	if !ok || len(v.Names) != 1 || len(v.Values) > 0 || m.typ(v.Type) == nil {
		return
	}
	name, typ := v.Names[0].Name, m.text(v.Type)
	switch m.typ(v.Type).Underlying().(type) {
	case *types.Map:
		m.replace(n.Pos(), n.End(), name+" := make("+typ+")", alias, 0.3*times(m.clues.nilMap, 6), "missing make of %s", name)
	case *types.Slice:
		_, body := m.function(stack)
		if body == nil || !m.written(body, m.g.info.Defs[v.Names[0]]) {
			return
		}
		for i, size := range m.sizes(n.Pos()) {
			w := 0.3 * times(m.clues.outside, 3) / (1 + 0.3*float64(i))
			m.replace(n.Pos(), n.End(), name+" := make("+typ+", "+size+")", alias, w, "missing make of %s", name)
		}
	}
}

// written reports whether a block assigns to elements of a variable.
func (m *mutator) written(b *ast.BlockStmt, o types.Object) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, x := range a.Lhs {
				if i, ok := x.(*ast.IndexExpr); ok {
					if id, ok := i.X.(*ast.Ident); ok && m.g.info.Uses[id] == o {
						found = true
					}
				}
			}
		}
		return !found
	})
	return found
}

// sizes are what a slice may be as long as: the slices and the numbers that can be named at a
// position.
func (m *mutator) sizes(pos token.Pos) []string {
	var out []string
	for _, v := range m.locals(pos) {
		switch u := v.Type().Underlying().(type) {
		case *types.Slice, *types.Map:
			out = append(out, "len("+v.Name()+")")
		case *types.Basic:
			if types.Identical(u, types.Typ[types.Int]) && v.Kind() == types.ParamVar {
				out = append(out, v.Name())
			}
		}
	}
	return out[:min(len(out), 4)]
}

// pointedAt proposes the element itself where the address of a loop's variable is taken: the
// variable is a copy and, before Go 1.22, the same one in every iteration.
func (m *mutator) pointedAt(n *ast.RangeStmt) {
	v, ok := n.Value.(*ast.Ident)
	if !ok || v.Name == "_" || n.Tok != token.DEFINE || hasCall(n.X) || m.typ(n.X) == nil {
		return
	}
	o := m.g.info.Defs[v]
	var taken *ast.UnaryExpr
	captured := false
	ast.Inspect(n.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.UnaryExpr:
			if id, ok := x.X.(*ast.Ident); ok && x.Op == token.AND && m.g.info.Uses[id] == o && taken == nil {
				taken = x
			}
		case *ast.FuncLit:
			captured = true
		}
		return true
	})
	if _, ok := m.typ(n.X).Underlying().(*types.Slice); ok && taken != nil {
		src := func(from, end token.Pos) string { return string(m.d.file.src[m.g.offset(from):m.g.offset(end)]) }
		key := m.text(n.Key)
		if key == "_" {
			key = "i"
		}
		head := key + ", " + v.Name
		if strings.Count(m.text(n.Body), v.Name) == strings.Count(m.text(taken), v.Name) {
			head = key // nothing else uses the copy
		}
		with := head + src(n.Value.End(), taken.Pos()) + "&" + m.text(n.X) + "[" + key + "]"
		m.replace(n.Key.Pos(), taken.End(), with, alias, 0.9, "address of a loop's variable: &%s[%s]", m.text(n.X), key)
	}
	if (taken != nil || captured) && m.g.old && len(n.Body.List) > 0 {
		m.before(n.Body.List[0], v.Name+" := "+v.Name, alias, 0.7, "one variable for all iterations: %s := %s", v.Name, v.Name)
	}
}
