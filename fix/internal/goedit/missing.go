package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// jump proposes a jump at the end of a block that has none.
func (m *mutator) jump(b []ast.Stmt, stack []ast.Node, weight float64) {
	if len(b) == 0 || jumps(b[len(b)-1]) {
		return
	}
	last := b[len(b)-1]
	if m.prepares(last, stack) {
		weight *= 0.15
	}
	for i, e := range m.exits(last.End(), stack) {
		if e.text == "continue" && endsLoop(stack) || e.text == "return" && endsFunction(stack) {
			continue // which changes nothing
		}
		m.after(last, e.text, jump, weight*e.weight/(1+0.2*float64(i)), "missing: %s", e.text)
	}
}

// prepares reports whether a statement at the end of a block sets what the statement after
// the block uses, such as a map that is made if it is nil. A jump there makes no sense.
func (m *mutator) prepares(last ast.Stmt, stack []ast.Node) bool {
	a, ok := last.(*ast.AssignStmt)
	if !ok || len(stack) < 2 {
		return false
	}
	block, ok := stack[len(stack)-2].(*ast.BlockStmt)
	if !ok {
		return false
	}
	at := slices.IndexFunc(block.List, func(s ast.Stmt) bool { return s == stack[len(stack)-1] })
	if at < 0 || at+1 == len(block.List) {
		return false
	}
	next := m.text(block.List[at+1])
	return slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return mentions(next, m.text(x)) })
}

// endsLoop reports whether the next iteration follows the innermost node.
func endsLoop(stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.BlockStmt:
			if last := len(n.List) - 1; i+1 < len(stack) && (last < 0 || n.List[last] != stack[i+1]) {
				return false
			}
		case *ast.CaseClause, *ast.CommClause:
			return false
		}
	}
	return false
}

// endsFunction reports whether the end of a function without results follows.
func endsFunction(stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return true
		case *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.CommClause:
			return false
		case *ast.BlockStmt:
			if last := len(n.List) - 1; i+1 < len(stack) && (last < 0 || n.List[last] != stack[i+1]) {
				return false
			}
		}
	}
	return true
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
		list = append(list, m.renamed(i.text, 0.8*w)...)
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

// renamed is a statement about a field of the receiver, made one about another
// field of its type.
func (m *mutator) renamed(text string, weight float64) []twin {
	r := m.receiver()
	if r == nil {
		return nil
	}
	s := structOf(r.Type())
	var out []twin
	for i := range fieldsOf(s) {
		from := r.Name() + "." + s.Field(i).Name()
		if !mentions(text, from) {
			continue
		}
		for j := range fieldsOf(s) {
			if i != j && types.Identical(s.Field(i).Type(), s.Field(j).Type()) {
				out = append(out, twin{replaceWord(text, from, r.Name()+"."+s.Field(j).Name()), weight})
			}
		}
	}
	return out
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

// suggested are statements that the variables at a position suggest: marking a key as seen,
// counting, storing a found value.
func (m *mutator) suggested(pos token.Pos) []twin {
	var out []twin
	type named struct {
		text  string
		typ   types.Type
		field bool
		fill  float64 // how much speaks for giving it a value
		use   float64 // and for using it
	}
	var vars []named
	for _, v := range m.locals(pos) {
		vars = append(vars, named{v.Name(), v.Type(), false, times(v.Kind() == types.ResultVar && m.empty(v), neverFilled), times(m.idle(v), 2.5)})
		if s := structOf(v.Type()); s != nil && (v == m.receiver() || v.Kind() != types.ResultVar) {
			for i := range fieldsOf(s) {
				if f := s.Field(i); f.Exported() || f.Pkg() == m.pkg() {
					vars = append(vars, named{v.Name() + "." + f.Name(), f.Type(), true, times(m.empty(f), neverFilled), 1})
				}
			}
		}
	}
	for _, x := range vars {
		n := len(out)
		switch u := x.typ.Underlying().(type) {
		case *types.Map:
			for _, k := range vars {
				if !types.Identical(k.typ, u.Key()) {
					continue
				}
				w := times(k.field, 0.6)
				at := x.text + "[" + k.text + "]"
				out = append(out, twin{"delete(" + x.text + ", " + k.text + ")", 0.7 * w})
				if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
					out = append(out, twin{at + " = true", 1.2 * w})
				} else if ok && b.Info()&types.IsInteger != 0 {
					out = append(out, twin{at + "++", 0.7 * w})
				}
				for _, v := range vars {
					if types.Identical(v.typ, u.Elem()) && !(v.text == k.text) {
						out = append(out, twin{at + " = " + v.text, 0.8 * w * times(v.field, 0.5)})
					}
				}
				if e, ok := u.Elem().Underlying().(*types.Slice); ok {
					for _, v := range vars {
						if types.Identical(v.typ, e.Elem()) {
							out = append(out, twin{at + " = append(" + at + ", " + v.text + ")", 0.6 * w * times(v.field, 0.5)})
						}
					}
				}
			}
		case *types.Slice:
			for _, v := range vars {
				if types.Identical(v.typ, u.Elem()) {
					out = append(out, twin{x.text + " = append(" + x.text + ", " + v.text + ")", 0.9 * times(v.field, 0.7) * v.use})
				}
				if types.Identical(v.typ, x.typ) && v.text != x.text {
					out = append(out, twin{x.text + " = append(" + x.text + ", " + v.text + "...)", 0.5})
				}
				for _, i := range vars {
					if !i.field && i.text != v.text && types.Identical(v.typ, u.Elem()) && !v.field && types.Identical(i.typ, types.Typ[types.Int]) {
						out = append(out, twin{x.text + "[" + i.text + "] = " + v.text, 0.6 * v.use})
					}
				}
			}
		case *types.Basic:
			if u.Info()&types.IsInteger != 0 {
				w := times(x.field, 0.9)
				out = append(out, twin{x.text + "++", 0.7 * w}, twin{x.text + "--", 0.6 * w})
			}
			if u.Info()&types.IsBoolean != 0 {
				out = append(out, twin{x.text + " = true", 0.7}, twin{x.text + " = false", 0.55})
			}
		}
		for _, v := range vars {
			if v.text != x.text && types.Identical(v.typ, x.typ) {
				w := 0.2 * likeness(lastName(x.text), lastName(v.text))
				w *= w * 4
				if b, ok := x.typ.Underlying().(*types.Basic); ok && !x.field && !v.field {
					w *= 0.9
					if b.Info()&types.IsNumeric != 0 {
						out = append(out, twin{x.text + " += " + v.text, 0.5 * w})
					}
				}
				out = append(out, twin{x.text + " = " + v.text, w * v.use})
				if b, ok := x.typ.Underlying().(*types.Basic); ok && b.Info()&types.IsNumeric != 0 && x.field && !v.field {
					out = append(out, twin{x.text + " -= " + v.text, 0.5 * v.use}, twin{x.text + " += " + v.text, 0.5 * v.use})
				}
			}
		}
		scaled(out[n:], x.fill)
	}
	out = distinct(out)
	return out[:min(len(out), 30)]
}

func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// needless proposes that a statement was not meant.
func (m *mutator) needless(s ast.Stmt) {
	weight := 0.2
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
	case *ast.BranchStmt:
		weight = 0.35
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
	case *ast.IfStmt:
		weight = 0.15
		if s.Else != nil {
			return
		}
	default:
		return
	}
	src := m.d.file.src
	from, end := m.g.offset(s.Pos()), m.g.offset(s.End())
	for from > 0 && (src[from-1] == ' ' || src[from-1] == '\t') {
		from--
	}
	if from == 0 || src[from-1] != '\n' {
		return
	}
	if rest, ok := restOfLine(src[end:]); ok {
		end += len(rest)
	}
	if end >= len(src) || src[end] != '\n' {
		return
	}
	n := len(m.sites)
	m.replace(s.Pos(), s.End(), "", missing, weight, "without: %s", firstLine(m.text(s)))
	m.sites[n].from, m.sites[n].end = from, end+1
}

func firstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		return first + " …"
	}
	return first
}

// unused proposes to keep the result of a call that is thrown away.
func (m *mutator) unused(s *ast.ExprStmt, stack []ast.Node) {
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return
	}
	t := m.typ(call)
	if t == nil {
		return
	}
	if isError(t) {
		for _, e := range m.exits(s.Pos(), stack) {
			if strings.HasPrefix(e.text, "return") && strings.Contains(e.text, "err") {
				m.replace(s.Pos(), s.End(), "if err := "+m.text(call)+"; err != nil {\n"+e.text+"\n}", missing, 0.6, "error ignored: %s", m.text(call))
			}
		}
		if sig, _ := m.function(stack); sig != nil {
			for _, z := range m.plain(sig, s.Pos())[:min(1, len(m.plain(sig, s.Pos())))] {
				parts := strings.Split(z.text, ", ")
				parts[len(parts)-1] = "err"
				m.replace(s.Pos(), s.End(), "if err := "+m.text(call)+"; err != nil {\nreturn "+strings.Join(parts, ", ")+"\n}", missing, 0.7, "error ignored: %s", m.text(call))
			}
		}
	}
	if _, tuple := t.(*types.Tuple); tuple {
		return
	}
	names := []string{}
	ast.Inspect(call, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && x != ast.Expr(call) && isName(x) && m.typ(x) != nil && types.Identical(m.typ(x), t) {
			names = append(names, m.text(x))
		}
		return true
	})
	for _, v := range names {
		m.replace(s.Pos(), s.Pos(), v+" = ", missing, 1.0, "result thrown away: %s =", v)
	}
	for _, v := range m.locals(s.Pos()) {
		if types.Identical(v.Type(), t) && !slices.Contains(names, v.Name()) {
			m.replace(s.Pos(), s.Pos(), v.Name()+" = ", missing, 0.6, "result thrown away: %s =", v.Name())
		}
	}
	m.replace(s.Pos(), s.Pos(), "return ", missing, 0.4, "missing return before %s", m.text(call))
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

// grown proposes that an assignment should have added to a slice or text.
func (m *mutator) grown(s *ast.AssignStmt) {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.ASSIGN {
		return
	}
	t := m.typ(s.Lhs[0])
	if t == nil || hasCall(s.Lhs[0]) {
		return
	}
	x, y := m.text(s.Lhs[0]), s.Rhs[0]
	switch u := t.Underlying().(type) {
	case *types.Slice:
		if lit, ok := y.(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
			elems := string(m.d.file.src[m.g.offset(lit.Elts[0].Pos()):m.g.offset(lit.Elts[len(lit.Elts)-1].End())])
			m.replace(y.Pos(), y.End(), "append("+x+", "+elems+")", missing, 0.9, "missing append to %s", x)
			return
		}
		if c, ok := y.(*ast.CallExpr); ok && baseName(c.Fun) == "append" {
			if len(c.Args) > 1 && m.text(c.Args[0]) != x {
				m.replace(c.Args[0].Pos(), c.Args[0].End(), x, missing, 0.8, "append to %s", x)
			}
			return
		}
		m.replace(y.Pos(), y.End(), "append("+x+", "+m.text(y)+"...)", missing, 0.45, "missing append to %s", x)
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			m.replace(s.TokPos, s.TokPos+1, "+=", missing, 0.5, "assignment = → +=")
		}
	}
}
