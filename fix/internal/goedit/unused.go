package goedit

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// forgottenWeight is high, since little code stays without a use for long.
const forgottenWeight = 0.9

// unusedOf lists what a package declares for itself and uses nowhere: written for a purpose, and
// then forgotten where it should have been put to use.
func (g *graph) unusedOf(dir string) []types.Object {
	t := g.tracesOf(dir)
	if t.unused != nil {
		return t.unused
	}
	t.unused = []types.Object{}
	used := map[*decl]bool{}
	for _, d := range g.decls {
		for _, u := range d.uses {
			if u.of != d && !d.file.test && (d.recv == "" || d.recv != u.of.name) {
				used[u.of] = true
			}
		}
	}
	for _, d := range g.decls {
		if d.file.test || d.file.dir() != dir || used[d] || d.recv != "" || ast.IsExported(d.name) || d.name == "_" || d.name == "main" || d.name == "init" {
			continue
		}
		var id *ast.Ident
		switch n := d.node.(type) {
		case *ast.FuncDecl:
			id = n.Name
		case *ast.TypeSpec:
			id = n.Name
		case *ast.ValueSpec:
			if len(n.Names) == 1 {
				id = n.Names[0]
			}
		}
		if o := g.info.Defs[id]; id != nil && o != nil && o.Type() != nil {
			t.unused = append(t.unused, o)
		}
	}
	return t.unused
}

// insteadOfUsed are copies of a text that name, in the place of what they name, something of
// the same kind that is used nowhere.
func (m *mutator) insteadOfUsed(n ast.Node) []string {
	unused := m.g.unusedOf(m.d.file.dir())
	if len(unused) == 0 {
		return nil
	}
	var out []string
	text := m.text(n)
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := m.g.info.Uses[id]
		if o == nil || !isGlobal(o) || o.Pkg() != m.pkg() {
			return true
		}
		for _, y := range unused {
			if copied := replaceWord(text, o.Name(), y.Name()); sameKind(o, y) && !slices.Contains(out, copied) {
				out = append(out, copied)
			}
		}
		return true
	})
	return out[:min(len(out), 2*mostKin)]
}

// sameKind reports whether one thing may stand where another does.
func sameKind(a, b types.Object) bool {
	switch a.(type) {
	case *types.TypeName:
		_, ok := b.(*types.TypeName)
		return ok && sameShape(a.Type(), b.Type())
	case *types.Func:
		_, ok := b.(*types.Func)
		return ok && types.Identical(a.Type(), b.Type())
	case *types.Const:
		_, ok := b.(*types.Const)
		return ok && types.Identical(a.Type(), b.Type())
	case *types.Var:
		_, ok := b.(*types.Var)
		return ok && types.Identical(a.Type(), b.Type())
	}
	return false
}

// sameShape reports whether two types are both structs, both maps and so on.
func sameShape(a, b types.Type) bool {
	_, x := a.Underlying().(*types.Struct)
	_, y := b.Underlying().(*types.Struct)
	return x && y || types.Identical(a.Underlying(), b.Underlying())
}

// forgottenUse repeats a statement for something that is used nowhere.
func (m *mutator) forgottenUse(s ast.Stmt) {
	if _, ok := s.(*ast.ExprStmt); !ok {
		return
	}
	n := len(m.sites)
	list := m.insteadOfUsed(s)
	if len(list) > 1 && len(list) <= mostInPair {
		list = append([]string{strings.Join(list, "\n")}, list...) // what was written together was forgotten together
	}
	for i, text := range list {
		w := forgottenWeight / (1 + 0.1*float64(i))
		m.after(s, text, missing, w, "missing: %s", firstLine(text))
		m.before(s, text, missing, 0.8*w, "missing: %s", firstLine(text))
	}
	for i := range m.sites[n:] {
		m.sites[n+i].unused = true
	}
}

// spokenKey is a character in a message.
var spokenKey = regexp.MustCompile(`'\W?(\w)'`)

// forgottenRow adds what is used nowhere to a table by characters, for one that a message names.
func (m *mutator) forgottenRow(n *ast.CompositeLit) {
	t := m.typ(n)
	if t == nil {
		return
	}
	table, ok := t.Underlying().(*types.Map)
	if !ok || len(n.Elts) == 0 {
		return
	}
	if b, ok := table.Key().Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
		return
	}
	last := n.Elts[len(n.Elts)-1]
	var keys []string
	for _, s := range spokenKey.FindAllStringSubmatch(m.clues.text, -1) {
		if key := "'" + s[1] + "'"; !slices.Contains(keys, key) && !strings.Contains(m.text(n), key+":") && len(keys) < mostKin {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		for _, y := range m.g.unusedOf(m.d.file.dir()) {
			if _, ok := y.(*types.Var); ok && types.AssignableTo(y.Type(), table.Elem()) {
				m.replace(last.End(), last.End(), ",\n"+key+": "+y.Name(), missing, forgottenWeight, "missing row: %s: %s", key, y.Name())
			}
		}
	}
}

// forgottenElement repeats an element of a literal for something that is used nowhere.
func (m *mutator) forgottenElement(n *ast.CompositeLit) {
	m.forgottenRow(n)
	for _, x := range n.Elts {
		for i, text := range m.insteadOfUsed(x) {
			if !strings.Contains(text, "\n") {
				m.replace(x.End(), x.End(), ", "+text, missing, forgottenWeight/(1+0.1*float64(i)), "missing element: %s", text)
			}
		}
	}
}
