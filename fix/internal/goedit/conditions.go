package goedit

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// unusual lists conditions under which a value is out of the ordinary: nothing,
// empty, zero, negative. They are what guards ask about.
func (m *mutator) unusual(text string, t types.Type) []twin {
	c := m.clues
	if isError(t) {
		return []twin{{text + " != nil", 1.3}}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return []twin{{text + " == nil", times(c.nilPointer, 2.5)}}
	case *types.Interface, *types.Signature, *types.Chan:
		return []twin{{text + " == nil", 0.6 * times(c.nilPointer, 2.5)}}
	case *types.Map:
		return []twin{{text + " == nil", 0.5 * times(c.nilMap, 2.5)}, {"len(" + text + ") == 0", 0.5}}
	case *types.Slice:
		return []twin{{"len(" + text + ") == 0", times(c.outside || c.divided, 2)}, {"len(" + text + ") < 2", 0.3}}
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return []twin{{text + ` == ""`, 0.9 * times(c.outside, 2)}}
		case u.Info()&types.IsBoolean != 0:
			return []twin{{text, 0.5}, {"!" + text, 0.5}}
		case u.Info()&types.IsInteger != 0 && u.Info()&types.IsUnsigned == 0:
			return []twin{{text + " == 0", 0.6 * times(c.divided, 3) * times(c.outside, 1.8)}, {text + " < 0", 0.65 * times(c.outside, 1.5) * times(c.negative, 3)}, {text + " <= 0", 0.6 * times(c.divided, 1.5) * times(c.negative, 3)}}
		case u.Info()&types.IsNumeric != 0:
			return []twin{{text + " == 0", 0.6 * times(c.divided, 3)}, {text + " <= 0", 0.4}}
		}
	}
	return nil
}

// unusualNames asks about each variable that a statement names whether it is out of the ordinary.
func (m *mutator) unusualNames(s ast.Stmt) []twin {
	var out []twin
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := m.g.info.Uses[id].(*types.Var); ok && !v.IsField() && !isGlobal(v) {
				out = append(out, m.unusual(id.Name, v.Type())...)
			}
		}
		return true
	})
	return out
}

// panicked reports whether a failure's trace starts at a statement, for a reason that is not plain:
// what it called outside the module panicked. For indexes and pointers there are rules.
func (m *mutator) panicked(s ast.Stmt) bool {
	if m.clues.outside || m.clues.nilPointer || m.clues.nilMap {
		return false
	}
	for _, f := range m.clues.h.Failures {
		if len(f.Locations) == 0 || !strings.Contains(f.Output, "panic: ") {
			continue
		}
		l := f.Locations[0]
		dir, _ := m.g.dirOf(f.Package)
		if m.g.line(s.Pos()) <= l.Line && l.Line <= m.g.line(s.End()) && m.g.find(dir, l) == m.d.file {
			return true
		}
	}
	return false
}

// bounded lists the conditions for evaluating n without a panic: that pointers are not
// nil, and that indexes are in range.
func (m *mutator) bounded(n ast.Node) []twin {
	var out []twin
	c := m.clues
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if t := m.typ(n.X); t != nil && isOperand(n.X) && !hasCall(n.X) {
				if _, ok := t.Underlying().(*types.Pointer); ok {
					w := 0.8
					if id, ok := n.X.(*ast.Ident); ok && m.g.info.Uses[id] == m.receiver() {
						w = 0.25
					}
					out = append(out, twin{m.text(n.X) + " != nil", w * times(c.nilPointer, 2.5)})
				}
			}
		case *ast.StarExpr:
			if t := m.typ(n.X); t != nil && !hasCall(n.X) {
				out = append(out, twin{m.text(n.X) + " != nil", 0.7 * times(c.nilPointer, 2.5)})
			}
		case *ast.IndexExpr:
			out = append(out, m.within(n.X, n.Index)...)
		case *ast.SliceExpr:
			if n.High != nil {
				out = append(out, m.within(n.X, n.High)...)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.QUO || n.Op == token.REM) && isOperand(n.Y) && !isLiteral(n.Y) && !hasCall(n.Y) {
				out = append(out, twin{m.text(n.Y) + " != 0", 0.7 * times(c.divided, 3)})
			}
		}
		return true
	})
	return distinct(out)
}

func (m *mutator) within(x, index ast.Expr) []twin {
	t := m.typ(x)
	if t == nil || hasCall(x) {
		return nil
	}
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	w := times(m.clues.outside, 2.5)
	switch u := u.(type) {
	case *types.Map:
		return nil
	case *types.Slice, *types.Array:
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			return nil
		}
	default:
		return nil
	}
	a, i := m.text(x), m.text(index)
	if isLiteral(index) {
		return []twin{{"len(" + a + ") > " + i, 0.8 * w}}
	}
	out := []twin{{i + " < len(" + a + ")", 0.9 * w}}
	if !strings.HasPrefix(i, "len(") {
		out = append(out, twin{i + " >= 0", 0.5 * w}, twin{i + " > 0", 0.4})
	} else {
		out = append(out, twin{"len(" + a + ") > 0", w})
	}
	return out
}

// halfRange asks for the other end of a range, where a number is only asked to be below one.
func (m *mutator) halfRange(n *ast.BinaryExpr, stack []ast.Node) {
	if n.Op != token.LSS && n.Op != token.LEQ || !m.surelyInteger(n.X) || isLiteral(n.Y) || hasCall(n.X) {
		return
	}
	info, _ := m.basic(n.X)
	if p, ok := parent(stack).(*ast.BinaryExpr); info&types.IsUnsigned != 0 || ok && strings.Contains(m.text(p), m.text(n.X)+" >= ") {
		return
	}
	if _, loop := parent(stack).(*ast.ForStmt); !loop {
		m.replace(n.Pos(), n.End(), m.text(n.X)+" >= 0 && "+m.text(n), term, 0.3, "missing term: %s >= 0 &&", m.text(n.X))
	}
}

func hasCall(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.CallExpr)
		found = found || ok
		return !found
	})
	return found
}

// borrowed lists ingredients, those of the neighbourhood first.
func (m *mutator) borrowed(list []ingredient, weight float64) []twin {
	var out []twin
	for _, i := range list {
		out = append(out, twin{i.text, weight * m.near(i)})
	}
	out = distinct(out)
	return out[:min(len(out), 24)]
}

func (m *mutator) near(i ingredient) float64 {
	switch {
	case i.of == m.d:
		return 1
	case i.of.recv != "" && i.of.recv == m.d.recv:
		return 0.9
	case i.of.file == m.d.file:
		return 0.6
	}
	return 0.4
}

// distinct sorts by weight and keeps the first of each text.
func distinct(list []twin) []twin {
	slices.SortStableFunc(list, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(t twin) bool {
		was := seen[t.text]
		seen[t.text] = true
		return was
	})
}

// failing negates conditions.
func failing(conds []twin) []twin {
	var out []twin
	for _, c := range conds {
		for _, op := range [][2]string{{" != ", " == "}, {" < ", " >= "}, {" >= ", " < "}, {" > ", " <= "}} {
			if x, y, ok := strings.Cut(c.text, op[0]); ok {
				out = append(out, twin{x + op[1] + y, c.weight})
				break
			}
		}
	}
	return out
}
