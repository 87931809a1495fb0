// Package propose lists small edits of Go code, one of which may repair what a test shows, the likeliest
// first. It runs nothing: only the tests can tell whether an edit helps.
package propose

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// The kinds of edits, those first that repair most.
const (
	comparison = iota
	operator
	bound
	literal
	condition
	otherName
	errorReturn
	nilCheck
	lengthCheck
	operands
	arguments
)

// kinds name what is edited.
var kinds = [...]string{
	"comparison", "operator", "bound", "literal", "condition", "name", "error", "nil check", "length check", "operands", "arguments",
}

// An Edit replaces one piece of a file.
type Edit struct {
	File     string
	Line     int
	From, To int // bytes
	New      string

	kind int
	old  string
	rank int
}

// Apply returns the text of the file after the edit.
func (e Edit) Apply(text []byte) string { return string(text[:e.From]) + e.New + string(text[e.To:]) }

// String returns a line for people.
func (e Edit) String() string {
	was := "`" + oneLine(e.old) + "`"
	if e.old == "" {
		was = "nothing"
	}
	return fmt.Sprintf("%s:%d %s: %s → `%s`", e.File, e.Line, kinds[e.kind], was, oneLine(e.New))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Hints say where the fault may be.
type Hints struct {
	Failures []gotest.Failure
	Covered  map[string][]Lines // by file: what the failing tests execute; nil: not known
}

// Lines are lines of a file, from the first to the last.
type Lines struct{ From, To int }

// Edits lists the edits of the code, those first that are at the places in the failures, then those in
// functions that the tests are named after, then those in the packages of the tests.
func (m *Module) Edits(h Hints) []Edit {
	var all []Edit
	for _, p := range m.packages {
		for _, f := range p.files {
			s := &search{fset: m.fset, pkg: p, file: f}
			for _, d := range f.ast.Decls {
				if g, ok := d.(*ast.GenDecl); !ok || g.Tok == token.VAR || g.Tok == token.CONST {
					s.decl(d)
				}
			}
			for _, e := range s.edits {
				if h.rank(&e, p.path, s.fn(e)) {
					all = append(all, e)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// rank says how early an edit is tried. It returns false for an edit that the failing tests do not execute.
func (h Hints) rank(e *Edit, pkg, function string) bool {
	tier, covered := 3, h.Covered == nil
	for _, l := range h.Covered[e.File] {
		covered = covered || l.From <= e.Line && e.Line <= l.To
	}
	weight := e.kind
	for _, f := range h.Failures {
		switch {
		case slices.Contains(f.Locations, gotest.Location{File: e.File, Line: e.Line}):
			tier, covered = 0, true
		case function != "" && strings.Contains(strings.ToLower(f.Test), strings.ToLower(function)):
			tier = min(tier, 1)
		case f.Package == pkg:
			tier = min(tier, 2)
		}
		for text, kind := range panics {
			if e.kind == kind && strings.Contains(f.Output, text) {
				weight = -1
			}
		}
	}
	e.rank = tier*len(kinds) + weight
	return covered
}

// panics are what the runtime says where a check is missing.
var panics = map[string]int{
	"nil pointer dereference": nilCheck, "assignment to entry in nil map": nilCheck, "out of range": lengthCheck, "divide by zero": lengthCheck,
}

// search collects the edits of one file.
type search struct {
	fset  *token.FileSet
	pkg   *goPackage
	file  *goFile
	stack []ast.Node // around the present node, from the outermost
	edits []Edit
}

func (s *search) decl(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			s.stack = s.stack[:len(s.stack)-1]
			return true
		}
		s.stack = append(s.stack, n)
		switch n := n.(type) {
		case *ast.BinaryExpr:
			s.binary(n)
		case *ast.UnaryExpr:
			if n.Op == token.NOT || n.Op == token.SUB {
				s.replace(condition, n, s.text(n.X))
			}
		case *ast.IfStmt:
			s.negate(n.Cond)
			s.ifError(n)
		case *ast.ForStmt:
			if n.Cond != nil {
				s.negate(n.Cond)
			}
		case *ast.BasicLit:
			s.literal(n)
		case *ast.Ident:
			s.ident(n)
		case *ast.SelectorExpr:
			s.selector(n)
		case *ast.StarExpr:
			s.dereference(n.X)
		case *ast.CallExpr:
			s.call(n)
		case *ast.IndexExpr:
			s.index(n)
		case *ast.SliceExpr:
			s.slice(n)
		case *ast.IncDecStmt:
			s.otherToken(operator, n.TokPos, n.Tok)
		case *ast.BranchStmt:
			s.otherToken(operator, n.TokPos, n.Tok)
		case *ast.ExprStmt:
			s.unchecked(n)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && s.is(n.Lhs[0], types.IsNumeric) {
				s.otherToken(operator, n.TokPos, n.Tok)
			}
		case *ast.ReturnStmt:
			s.returns(n)
		}
		return true
	})
}

// results returns the results of the function around the present node, which may be a literal.
func (s *search) results() []*ast.Field {
	for _, n := range slices.Backward(s.stack) {
		var f *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			f = n.Type
		case *ast.FuncLit:
			f = n.Type
		default:
			continue
		}
		if f.Results != nil {
			return f.Results.List
		}
		break
	}
	return nil
}

// fn returns the name of the declared function that an edit is in; empty: it is in none.
func (s *search) fn(e Edit) string {
	for _, d := range s.file.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && s.offset(f.Pos()) <= e.From && e.From < s.offset(f.End()) {
			return f.Name.Name
		}
	}
	return ""
}

// statement returns the statement of a block around the present node; nil: there is none.
func (s *search) statement() ast.Stmt {
	for i, n := range slices.Backward(s.stack) {
		stmt, ok := n.(ast.Stmt)
		if !ok || i == 0 {
			continue
		}
		switch s.stack[i-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			if _, block := n.(*ast.BlockStmt); !block {
				return stmt
			}
		}
	}
	return nil
}

// add proposes an edit between two places.
func (s *search) add(kind int, from, to token.Pos, text string) {
	e := Edit{File: s.file.name, Line: s.fset.Position(from).Line, From: s.offset(from), To: s.offset(to), New: text, kind: kind}
	e.old = string(s.file.text[e.From:e.To])
	same := func(o Edit) bool { return o.From == e.From && o.To == e.To && o.New == e.New }
	if e.old != text && !slices.ContainsFunc(s.edits, same) {
		s.edits = append(s.edits, e)
	}
}

// replace proposes another text for a node.
func (s *search) replace(kind int, n ast.Node, text string) { s.add(kind, n.Pos(), n.End(), text) }

// guard proposes to leave the function where a condition holds, in front of the statement around the present node.
func (s *search) guard(kind int, cond string) {
	if stmt := s.statement(); stmt != nil {
		s.add(kind, stmt.Pos(), stmt.Pos(), "if "+cond+" {\n"+s.leave("")+"\n}\n")
	}
}

func (s *search) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *search) text(n ast.Node) string {
	return string(s.file.text[s.offset(n.Pos()):s.offset(n.End())])
}
