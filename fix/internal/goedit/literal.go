package goedit

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/ends"
)

// textSwap is a difference between the got and the wanted value of a test: one text in the
// place of another. It never decides what code does for an input; it only says which of the
// program's own texts is wrong, and how.
type textSwap struct{ from, to string }

// textSwaps finds the one place where two texts differ. Of a difference such as
// "a,b" against "a, b" it is not known how far the text in the source reaches,
// so that what surrounds the difference is part of some of the proposals.
func textSwaps(got, want string) []textSwap {
	got, want = unquoted(got), unquoted(want)
	if got == want || got == "" || want == "" || len(got)+len(want) > 4000 {
		return nil
	}
	head, tail := ends.Common([]byte(got), []byte(want))
	from, to := got[head:len(got)-tail], want[head:len(want)-tail]
	return []textSwap{{from, to}, {got, want}}
}

// differs reports whether a character is part of only one of the got and the wanted value.
func (c *clues) differs(char string) bool {
	return slices.ContainsFunc(c.swaps, func(s textSwap) bool {
		return len(s.from)+len(s.to) < 40 && strings.Contains(s.from, char) != strings.Contains(s.to, char)
	})
}

func unquoted(s string) string {
	if q, err := strconv.QuotedPrefix(s); err == nil {
		s = q // another value follows
	}
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// literal proposes another text or character for a literal, if that explains the
// difference between got and want.
func (m *mutator) literal(n *ast.BasicLit) {
	if n.Kind != token.STRING && n.Kind != token.CHAR {
		return
	}
	old, err := strconv.Unquote(n.Value)
	if err != nil {
		return
	}
	for _, s := range m.clues.swaps {
		for _, with := range rewrites(old, s) {
			if with == old || !utf8.ValidString(with) {
				continue
			}
			text := strconv.Quote(with)
			if n.Kind == token.CHAR {
				if utf8.RuneCountInString(with) != 1 {
					continue
				}
				r, _ := utf8.DecodeRuneInString(with)
				text = strconv.QuoteRune(r)
			}
			m.replace(n.Pos(), n.End(), text, literal, 1.6, "text %s → %s", n.Value, text)
		}
	}
	if n.Kind == token.CHAR {
		m.otherCharacter(n)
		return
	}
	m.otherVerb(n, old)
}

// verbs are how a text shows a value, and which of them are taken for one another.
var (
	verb  = regexp.MustCompile(`%%|%[-+# 0-9.]*[dxXsqv]`)
	verbs = map[byte]string{'d': "xv", 'x': "dX", 'X': "xd", 's': "qv", 'q': "sv", 'v': "sqd"}
)

// otherVerb proposes that a text shows a value in another way: the more, if a test's message has
// the text before it.
func (m *mutator) otherVerb(n *ast.BasicLit, text string) {
	weight := 0.2
	if at := verb.FindStringIndex(text); at != nil && at[0] > 2 {
		weight *= times(strings.Contains(m.clues.text, text[:at[0]]) || strings.Contains(m.clues.text, strconv.Quote(text[:at[0]])), 4)
	}
	for _, at := range verb.FindAllStringIndex(n.Value, -1) {
		end := n.Pos() + token.Pos(at[1])
		for _, v := range verbs[n.Value[at[1]-1]] {
			m.replace(end-1, end, string(v), literal, weight, "text: %s shown with %%%c", n.Value[at[0]:at[1]], v)
		}
	}
}

// rewrites lists possible originals of a literal, given one difference: the whole replaced,
// or the part that differs, or, if something was only added, that at either end.
func rewrites(old string, s textSwap) []string {
	var out []string
	if old == "" {
		return nil
	}
	if s.from != "" && strings.Count(old, s.from) == 1 {
		out = append(out, strings.Replace(old, s.from, s.to, 1))
	}
	if s.from == "" && len(s.to) <= 8 {
		out = append(out, old+s.to, s.to+old)
		for i := 1; i < len(old) && len(old) <= 24; i++ {
			if old[i] == s.to[0] || old[i-1] == s.to[len(s.to)-1] || old[i] == '%' {
				out = append(out, old[:i]+s.to+old[i:])
			}
		}
	}
	return out
}

// similar are characters, as they are written, that are close in use.
var similar = [][]string{
	{`' '`, `'\t'`, `'\n'`}, {`','`, `';'`, `'.'`, `':'`}, {`'-'`, `'_'`}, {`'\''`, `'"'`}, {`'('`, `')'`}, {`'['`, `']'`}, {`'{'`, `'}'`},
	{`'<'`, `'>'`}, {`'0'`, `'9'`, `'1'`}, {`'a'`, `'A'`, `'z'`, `'Z'`}, {`'/'`, `'\\'`}, {`'+'`, `'-'`, `'*'`, `'/'`, `'%'`, `' '`},
}

// otherCharacter proposes the package's other characters for one, and some that
// are close to it in use.
func (m *mutator) otherCharacter(n *ast.BasicLit) {
	var twins []twin
	for _, i := range m.g.ingredients(m.d.file.dir()).chars {
		if i.text != n.Value {
			twins = append(twins, twin{i.text, m.near(i)})
		}
	}
	for _, set := range similar {
		if slices.Contains(set, n.Value) {
			for _, c := range set {
				if c != n.Value {
					twins = append(twins, twin{c, 0.8})
				}
			}
		}
	}
	weight := 0.4
	if c, err := strconv.Unquote(n.Value); err == nil && m.clues.differs(c) {
		weight = 0.9
	}
	m.instead(n, distinct(twins), literal, weight, "character")
}
