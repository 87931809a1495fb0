package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// jump proposes a jump at the end of a block that has none.
func (m *mutator) jump(b []ast.Stmt, stack []ast.Node, weight float64) {
	if len(b) == 0 || jumps(b[len(b)-1]) {
		return
	}
	last := b[len(b)-1]
	for i, e := range m.exits(last.End(), stack) {
		m.after(last, e.text, jump, weight*e.weight/(1+0.2*float64(i)), "missing: %s", e.text)
	}
}

// branch proposes another way out of a loop.
func (m *mutator) branch(s *ast.BranchStmt, stack []ast.Node) {
	if s.Label != nil {
		return
	}
	switch s.Tok {
	case token.BREAK:
		m.replace(s.Pos(), s.End(), "continue", jump, 0.6, "break → continue")
		m.replace(s.Pos(), s.End(), "return", jump, 0.2, "break → return")
	case token.CONTINUE:
		m.replace(s.Pos(), s.End(), "break", jump, 0.6, "continue → break")
	default:
		return
	}
	for i, e := range m.exits(s.Pos(), stack) {
		if strings.HasPrefix(e.text, "return") {
			m.replace(s.Pos(), s.End(), e.text, jump, 0.25*e.weight/(1+0.3*float64(i)), "%s → %s", s.Tok, e.text)
		}
	}
}

// forgottenStatement proposes to insert a statement that occurs elsewhere, or that the
// variables in scope suggest, before s and, at the end of a block, after it.
func (m *mutator) forgottenStatement(s ast.Stmt, last bool) {
	list := m.suggested(s.Pos())
	for _, i := range m.g.ingredients(m.d.file.dir()).statements {
		w := 0.9 * m.near(i)
		if i.text == m.text(s) {
			continue
		}
		list = append(list, twin{i.text, w})
		if x, ok := strings.CutSuffix(i.text, "++"); ok {
			list = append(list, twin{x + "--", 0.8 * w})
		} else if x, ok := strings.CutSuffix(i.text, "--"); ok {
			list = append(list, twin{x + "++", 0.8 * w})
		}
	}
	list = distinct(list)
	if m.placed == nil {
		m.placed = map[string]float64{}
	}
	for i, x := range list[:min(len(list), 40)] {
		// The same statement may be missing in one of many places.
		w := 0.4 * x.weight * alike(m.text(s), x.text) / ((1 + 0.05*float64(i)) * (1 + 0.3*m.placed[x.text]))
		m.placed[x.text]++
		m.before(s, x.text, missing, w, "missing: %s", x.text)
		if last && !jumps(s) {
			m.after(s, x.text, missing, w, "missing: %s", x.text)
		}
	}
}

// alike favours a position next to a statement of the same form: the missing statement is
// often the second of two that belong together.
func alike(beside, text string) float64 {
	for _, form := range []string{"++", "--", "append(", " = ", " += ", "delete("} {
		if strings.Contains(text, form) {
			return times(strings.Contains(beside, form) && !strings.Contains(beside, "\n"), 2)
		}
	}
	return 1
}

// replaceWord replaces a name where it is a whole word.
func replaceWord(text, from, to string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + len(from)
		if strings.HasPrefix(text[i:], from) && (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end])) {
			b.WriteString(to)
			i = end
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// suggested are statements that the variables at a position suggest: to keep a value in a list, or
// to set a variable.
func (m *mutator) suggested(pos token.Pos) []twin {
	type named struct {
		text  string
		typ   types.Type
		field types.Object // nil: a variable
		use   float64      // how much speaks for using it
		set   float64      // and for setting it: a message names it
	}
	grown := m.g.tracesOf(m.d.file.dir()).grown
	var vars []named
	for _, v := range m.locals(pos) {
		vars = append(vars, named{v.Name(), v.Type(), nil, times(m.idle(v), 2.5), 1})
		s := structOf(v.Type())
		for i := range fieldsOf(s) {
			if f := s.Field(i); f.Exported() || f.Pkg() == m.pkg() {
				said := len(f.Name()) > 3 && mentions(m.clues.text, f.Name())
				vars = append(vars, named{v.Name() + "." + f.Name(), f.Type(), f, 1, times(said, 3)})
			}
		}
	}
	var out []twin
	for _, x := range vars {
		if b, ok := x.typ.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			out = append(out, twin{x.text + " = true", 0.7 * x.set}, twin{x.text + " = false", 0.55 * x.set})
		}
		list, _ := x.typ.Underlying().(*types.Slice)
		for _, v := range vars {
			if list != nil && types.Identical(v.typ, list.Elem()) {
				out = append(out, twin{x.text + " = append(" + x.text + ", " + v.text + ")", 0.9 * times(v.field != nil, 0.7) * times(x.field != nil && !grown[x.field], neverGrown) * v.use})
			}
			if v.text != x.text && types.Identical(v.typ, x.typ) {
				w := 0.2 * likeness(lastName(x.text), lastName(v.text))
				out = append(out, twin{x.text + " = " + v.text, 4 * w * w * v.use * x.set})
			}
		}
	}
	out = distinct(out)
	return out[:min(len(out), 30)]
}

func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

func firstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		return first + " …"
	}
	return first
}

func isName(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isName(x.X)
	}
	return false
}

// forgottenField sets one more field in a struct literal: as other literals of the type do, to a
// variable that is named alike, or to the same field of what others are copied from. Fields that a
// message or the name of a failing test mentions come first.
func (m *mutator) forgottenField(n *ast.CompositeLit) {
	t := m.typ(n)
	if t == nil || len(n.Elts) == 0 {
		return
	}
	s, _ := t.Underlying().(*types.Struct)
	have, from := map[string]bool{}, ""
	for _, x := range n.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok || s == nil {
			return
		}
		have[m.text(kv.Key)] = true
		if sel, ok := kv.Value.(*ast.SelectorExpr); ok && sel.Sel.Name == m.text(kv.Key) && isName(sel.X) {
			from = m.text(sel.X) + "."
		}
	}
	var twins []twin
	for f := range s.Fields() {
		if have[f.Name()] || !f.Exported() && f.Pkg() != m.pkg() {
			continue
		}
		said := times(m.clues.tests(f.Name()) || len(f.Name()) > 3 && mentions(m.clues.text, f.Name()), 2)
		if from != "" {
			twins = append(twins, twin{f.Name() + ": " + from + f.Name(), said})
		}
		for _, v := range m.locals(n.Pos()) {
			if types.AssignableTo(v.Type(), f.Type()) && (strings.EqualFold(v.Name(), f.Name()) || m.idle(v)) {
				twins = append(twins, twin{f.Name() + ": " + v.Name(), 0.9 * said})
			}
		}
		for _, i := range m.g.ingredients(m.d.file.dir()).fields {
			if types.Identical(i.typ, t) && strings.HasPrefix(i.text, f.Name()+":") {
				twins = append(twins, twin{i.text, 0.6 * m.near(i) * said})
			}
		}
	}
	last, space := n.Elts[len(n.Elts)-1], " "
	if m.g.line(last.End()) != m.g.line(n.End()) {
		space = "\n"
	}
	twins = distinct(twins)
	for i, x := range twins[:min(len(twins), mostKin)] {
		m.replace(last.End(), last.End(), ","+space+x.text, missing, 0.4*x.weight/(1+0.25*float64(i)), "missing field: %s", x.text)
	}
}
