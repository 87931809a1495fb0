package goedit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/bits"
	"slices"
	"strings"
)

// site is a change before it has become an Edit: bytes from to end of the file
// of a declaration are replaced.
type site struct {
	file      *file
	decl      *decl
	from, end int
	line      int
	with      string
	rule      string
	class     class
	weight    float64
	differs   uint // for which outcomes of a comparison another operator holds
	unused    bool // it puts to use what is used nowhere
	weak      bool // see hardly; known when the result is
	imports   []importChange
}

// bearing is the power of a line's suspicion that an edit is weighed with. An edit that changes
// what happens in a few cases only, for one outcome of a comparison or where one more condition
// holds, is of a line that tests which pass execute nearly as often as one that is right. An edit
// that turns a decision around is not: those tests would fail.
func (s *site) bearing(line float64) float64 {
	switch {
	case line >= 1, line <= unseen:
		return 1
	case s.mild():
		return 0.35
	case s.class == negation, s.class == truth, s.class == arithmetic, s.class == comparison:
		return drastic
	}
	return 1
}

// mild reports whether an edit changes what happens in a few cases only, or stands where it does
// for a reason of its own.
func (s *site) mild() bool {
	return bits.OnesCount(s.differs) == 1 || s.class == term || s.unused
}

// drastic is the bearing of edits that turn a decision around.
const drastic = 1.4

func compareSites(a, b site) int {
	switch {
	case a.weight != b.weight:
		if a.weight > b.weight {
			return -1
		}
		return 1
	case a.file != b.file:
		return strings.Compare(a.file.path, b.file.path)
	case a.from != b.from:
		return a.from - b.from
	case a.end != b.end:
		return a.end - b.end
	}
	return strings.Compare(a.with, b.with)
}

// result returns the whole file after the change, or false if it is unchanged or certainly
// does not compile.
func (s *site) result(g *graph) ([]byte, bool) {
	src := s.file.src
	if fn, ok := s.decl.node.(*ast.FuncDecl); ok && fn.Body != nil && g.line(fn.Pos()) != g.line(fn.End()) {
		// A function of some lines can be looked at alone, which in a long
		// file is far cheaper.
		from, end := g.offset(fn.Pos()), g.offset(fn.End())
		if g.offset(fn.Body.Pos()) < s.from && s.end < end {
			return s.inFunction(g, fn, from, end)
		}
	}
	after := slices.Concat(src[:s.from], []byte(s.with), src[s.end:])
	if s.file.formatted {
		var err error
		if after, err = format.Source(after); err != nil {
			return nil, false
		}
	}
	if bytes.Equal(after, src) {
		return nil, false
	}
	parsed, err := parser.ParseFile(g.fset, s.file.path, after, parser.SkipObjectResolution)
	return after, err == nil && g.compiles(s.file, parsed)
}

// inFunction is result for a change within a function. gofmt formats a function of several
// lines independently of its surroundings.
func (s *site) inFunction(g *graph, fn *ast.FuncDecl, from, end int) ([]byte, bool) {
	src := s.file.src
	text := slices.Concat([]byte(clause), src[from:s.from], []byte(s.with), src[s.end:end])
	if s.file.formatted {
		var err error
		if text, err = format.Source(text); err != nil {
			return nil, false
		}
	}
	body, ok := bytes.CutPrefix(text, []byte(clause))
	body = bytes.TrimRight(body, "\n")
	if !ok || bytes.Equal(body, src[from:end]) {
		return nil, false
	}
	parsed, err := parser.ParseFile(g.fset, s.file.path, text, parser.SkipObjectResolution)
	if err != nil || len(parsed.Decls) != 1 {
		return nil, false
	}
	now, ok := parsed.Decls[0].(*ast.FuncDecl)
	if !ok || now.Body == nil {
		return nil, false
	}
	if s.imports, ok = g.fits(s.file, s.decl, fn, now); !ok {
		return nil, false
	}
	s.weak = weakens(fn, now)
	return slices.Concat(src[:from], body, src[end:]), true
}

// clause makes a file of a declaration.
const clause = "package p\n\n"

// replace records that the source from from to end becomes with.
func (m *mutator) replace(from, end token.Pos, with string, c class, weight float64, rule string, args ...any) {
	if weight <= 0 {
		return
	}
	m.sites = append(m.sites, site{
		file: m.d.file, decl: m.d, from: m.g.offset(from), end: m.g.offset(end), line: m.g.line(from),
		with: with, rule: fmt.Sprintf(rule, args...), class: c, weight: weight,
	})
}
