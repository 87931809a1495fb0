package goedit

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// mostKin bounds the values of a set that are proposed beside one of them.
const mostKin = 6

// kin are the other constants of the type of one: those that a question about it easily forgets.
func (m *mutator) kin(x ast.Expr, asked []string) []string {
	if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
		return m.kinTexts(asked)
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return nil
	}
	c, ok := m.g.info.Uses[id].(*types.Const)
	if !ok {
		return nil
	}
	named, ok := c.Type().(*types.Named)
	if !ok || named.Obj().Pkg() != m.pkg() {
		return nil
	}
	scope := m.pkg().Scope()
	var list []types.Object
	for _, name := range scope.Names() {
		if o, ok := scope.Lookup(name).(*types.Const); ok && o != c && types.Identical(o.Type(), c.Type()) && !slices.Contains(asked, name) {
			list = append(list, o)
		}
	}
	// Those declared next to it come first.
	far := func(o types.Object) int { return max(int(o.Pos()-c.Pos()), int(c.Pos()-o.Pos())) }
	slices.SortStableFunc(list, func(a, b types.Object) int { return far(a) - far(b) })
	var names []string
	for _, o := range list[:min(len(list), mostKin)] {
		names = append(names, o.Name())
	}
	return names
}

// kinTexts are the package's short texts, first those that make a difference to the tests.
func (m *mutator) kinTexts(asked []string) []string {
	var twins []twin
	for _, i := range m.g.ingredients(m.d.file.dir()).texts {
		if with, err := strconv.Unquote(i.text); err == nil && with != "" && !slices.Contains(asked, with) && !slices.Contains(asked, i.text) {
			twins = append(twins, twin{i.text, m.near(i) * times(m.clues.differs(with), 3)})
		}
	}
	var out []string
	for _, t := range distinct(twins)[:min(len(distinct(twins)), mostNamed)] {
		out = append(out, t.text)
	}
	return out
}

// oneMore extends a question about one of a set of constants to another of it: x == a becomes
// x == a || x == b, and x != a becomes x != a && x != b.
func (m *mutator) oneMore(n *ast.BinaryExpr, stack []ast.Node) {
	join := map[token.Token]string{token.EQL: " || ", token.NEQ: " && "}[n.Op]
	if _, text := n.Y.(*ast.BasicLit); join == "" || hasCall(n.X) && !text {
		return
	}
	around := m.text(n)
	for _, p := range slices.Backward(stack) {
		b, ok := p.(*ast.BinaryExpr)
		if !ok || b.Op != token.LAND && b.Op != token.LOR {
			break
		}
		around = m.text(b)
	}
	for i, name := range m.kin(n.Y, strings.FieldsFunc(around, func(r rune) bool { return r > 127 || !isWord(byte(r)) })) {
		text := m.text(n) + join + m.text(n.X) + " " + n.Op.String() + " " + name
		if p, ok := parent(stack).(*ast.BinaryExpr); ok && n.Op == token.EQL && p.Op == token.LAND {
			text = "(" + text + ")"
		}
		m.replace(n.Pos(), n.End(), text, term, 0.38/(1+0.3*float64(i)), "missing term: %s %s %s", m.text(n.X), n.Op, name)
	}
}

// blank is the character that a list of them lacks most easily.
const blank = "' '"

// oneMoreCase adds a constant, or a character of the package, to those of a case.
func (m *mutator) oneMoreCase(n *ast.CaseClause) {
	if len(n.List) == 0 {
		return
	}
	last := n.List[len(n.List)-1]
	var have []string
	chars := true
	for _, x := range n.List {
		have = append(have, m.text(x))
		l, ok := x.(*ast.BasicLit)
		chars = chars && ok && l.Kind == token.CHAR
	}
	for i, name := range m.kin(last, have) {
		m.replace(last.End(), last.End(), ", "+name, term, 0.26/(1+0.3*float64(i)), "missing in a case: %s", name)
	}
	if !chars {
		return
	}
	tried := 0
	if chars := m.g.ingredients(m.d.file.dir()).chars; !slices.Contains(have, blank) && slices.ContainsFunc(chars, func(c ingredient) bool { return c.text == blank }) {
		have = append(have, blank)
		m.replace(last.End(), last.End(), ", "+blank, term, 0.3, "missing in a case: %s", blank)
	}
	for _, c := range m.g.ingredients(m.d.file.dir()).chars {
		if tried < mostKin && !slices.Contains(have, c.text) {
			tried++
			have = append(have, c.text)
			m.replace(last.End(), last.End(), ", "+c.text, term, 0.3*m.near(c)/(1+0.3*float64(tried)), "missing in a case: %s", c.text)
		}
	}
}

// repeated makes a loop of a condition that holds once and should be asked again, and proposes
// that what depends on it happens always, or never. A condition to leave by is left alone: without
// a check, most tests pass that are about others.
func (m *mutator) repeated(n *ast.IfStmt) {
	if n.Init != nil || n.Else != nil || len(n.Body.List) == 0 || leaves(n.Body) {
		return
	}
	m.replace(n.If, n.If+token.Pos(len("if")), "for", term, 0.4, "if → for")
	body := strings.TrimSpace(m.text(n.Body)[1 : len(m.text(n.Body))-1])
	m.replace(n.Pos(), n.End(), body, dependent, 0.3, "without the condition %s", m.text(n.Cond))
	rest := m.d.file.src[m.g.offset(n.End()):]
	space := len(rest) - len(bytes.TrimLeft(rest, " \t\n"))
	m.replace(n.Pos(), n.End()+token.Pos(space), "", dependent, 0.3, "never, if %s: %s", m.text(n.Cond), firstLine(body))
}

// wholeOf proposes that a loop goes on to the end of what its body indexes.
func (m *mutator) wholeOf(n *ast.ForStmt) {
	b, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.LSS && b.Op != token.LEQ {
		return
	}
	var seen []string
	ast.Inspect(n.Body, func(x ast.Node) bool {
		i, ok := x.(*ast.IndexExpr)
		if !ok || hasCall(i.X) || m.text(i.Index) != m.text(b.X) || m.typ(i.X) == nil {
			return true
		}
		switch m.typ(i.X).Underlying().(type) {
		case *types.Slice, *types.Basic:
		default:
			return true
		}
		if end := "len(" + m.text(i.X) + ")"; !slices.Contains(seen, end) && m.text(b.Y) != end && len(seen) < 2 {
			seen = append(seen, end)
			m.replace(b.OpPos, b.Y.End(), "< "+end, bounds, 0.4, "loop to %s", end)
		}
		return true
	})
}

// otherResults proposes what other functions of the package return of the same type, if it
// needs nothing of theirs: a constant, or a call without arguments.
func (m *mutator) otherResults(x ast.Expr, t types.Type) {
	var twins []twin
	for _, r := range m.g.ingredients(m.d.file.dir()).results {
		if types.Identical(r.typ, t) && r.text != m.text(x) {
			twins = append(twins, twin{r.text, 0.8 * m.near(r)})
		}
	}
	twins = distinct(twins)
	m.instead(x, twins[:min(len(twins), mostKin)], wrong, 0.5, "result")
}

// asked are questions about a variable that the package asks elsewhere by calling a function.
func (m *mutator) asked(text string, t types.Type) []twin {
	var out []twin
	for _, p := range m.g.ingredients(m.d.file.dir()).predicates {
		if types.Identical(p.typ, t) && p.text != m.d.name {
			call := p.text + "(" + text + ")"
			out = append(out, twin{call, 1.2 * m.near(p) * times(m.clues.says(call), 5)})
		}
	}
	out = distinct(out)
	return out[:min(len(out), 2)]
}

// collectResult collects a result that any function of the type can return.
func (in *ingredients) collectResult(g *graph, x ast.Expr, put func(*[]ingredient, ast.Node, types.Type)) {
	tv := g.info.Types[x]
	if tv.Type == nil {
		return
	}
	switch x := x.(type) {
	case *ast.CallExpr:
		if len(x.Args) == 0 && isOperand(x.Fun) {
			if sel, ok := x.Fun.(*ast.SelectorExpr); ok && g.info.Selections[sel] != nil {
				return // a method of a variable
			}
			if id, ok := x.Fun.(*ast.Ident); ok && !isFunction(g.info.Uses[id]) {
				return
			}
			put(&in.results, x, tv.Type)
		}
	case *ast.Ident:
		if c, ok := g.info.Uses[x].(*types.Const); ok && c.Pkg() != nil && isGlobal(c) {
			put(&in.results, x, tv.Type)
		}
	}
}

func isFunction(o types.Object) bool {
	_, ok := o.(*types.Func)
	return ok
}
