package goedit

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// spans are the ranges of characters that programs ask for.
var spans = [][2]string{{"'a'", "'z'"}, {"'A'", "'Z'"}, {"'0'", "'9'"}, {"'a'", "'f'"}, {"'A'", "'F'"}}

// spanned completes a question about a character: the other end of a range, a
// range that belongs to those asked about, or one more of a list.
func (m *mutator) spanned(x ast.Expr, stack []ast.Node) {
	if p, ok := parent(stack).(*ast.BinaryExpr); ok && (p.Op == token.LAND || p.Op == token.LOR) {
		return // part of an expression already examined
	}
	lows, highs, single := map[string][]string{}, map[string][]string{}, map[string][]string{}
	var names []string
	where := map[string]ast.Expr{}
	for _, t := range terms(x) {
		b, ok := t.(*ast.BinaryExpr)
		if !ok || hasCall(b.X) {
			continue
		}
		c, ok := b.Y.(*ast.BasicLit)
		if !ok || c.Kind != token.CHAR {
			continue
		}
		name := m.text(b.X)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		switch b.Op {
		case token.GEQ:
			lows[name] = append(lows[name], c.Value)
		case token.LEQ:
			highs[name] = append(highs[name], c.Value)
		case token.EQL:
			single[name] = append(single[name], c.Value)
		default:
			continue
		}
		where[name+c.Value] = b
	}
	for _, n := range names {
		for _, s := range spans {
			low, high := slices.Contains(lows[n], s[0]), slices.Contains(highs[n], s[1])
			if low || high {
				m.span(x, n, s, low, high, where)
			} else if len(lows[n])+len(highs[n]) > 0 {
				m.replace(x.End(), x.End(), " || "+n+" >= "+s[0]+" && "+n+" <= "+s[1], term, 0.3, "missing range: %s to %s", s[0], s[1])
			}
		}
		for _, c := range others(single[n]) {
			m.replace(x.End(), x.End(), " || "+n+" == "+c, term, 0.3, "missing term: || %s == %s", n, c)
		}
	}
}

// span adds the end of a range that is not asked about.
func (m *mutator) span(x ast.Expr, n string, s [2]string, low, high bool, where map[string]ast.Expr) {
	switch {
	case low && !high && !strings.Contains(m.text(x), n+" <= "):
		at := where[n+s[0]]
		m.replace(at.End(), at.End(), " && "+n+" <= "+s[1], term, 0.5, "missing end of a range: %s", s[1])
	case high && !low && !strings.Contains(m.text(x), n+" >= "):
		at := where[n+s[1]]
		m.replace(at.Pos(), at.Pos(), n+" >= "+s[0]+" && ", term, 0.5, "missing beginning of a range: %s", s[0])
	}
}

// others are the characters of a set that has most of a list in it.
func others(list []string) []string {
	var out []string
	for _, set := range similar {
		in := 0
		for _, c := range list {
			if slices.Contains(set, c) {
				in++
			}
		}
		for _, c := range set {
			if in > 1 && in*2 >= len(set)-1 && !slices.Contains(list, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// listed adds a character to those of a case.
func (m *mutator) listed(n *ast.CaseClause) {
	var list []string
	for _, x := range n.List {
		if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.CHAR {
			list = append(list, l.Value)
		}
	}
	for _, c := range others(list) {
		last := n.List[len(n.List)-1]
		m.replace(last.End(), last.End(), ", "+c, term, 0.3, "missing in a case: %s", c)
	}
}
