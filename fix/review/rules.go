package review

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Rules reviews the Go files of a change by rules, without a model: go vet, staticcheck
// where it is installed, and patterns of this package that are nearly always faults. It
// reports only what is on lines of the difference.
func (c *Change) Rules(ctx context.Context, r *Report) error {
	var files []*File
	for i := range c.Files {
		f := &c.Files[i]
		if f.Skip != "" || !strings.HasSuffix(f.Path, ".go") || ignored.MatchString(f.Path) {
			continue
		}
		files = append(files, f)
		r.Findings = append(r.Findings, patterns(f)...)
	}
	if len(files) == 0 {
		return nil
	}
	if err := c.tools(ctx, files, r); err != nil {
		return err
	}
	r.sort()
	return nil
}

// ignored is Go code that is no package of its module, as test data, which may have faults
// on purpose.
var ignored = regexp.MustCompile(`(^|/)(testdata|[._][^/]*)/`)

// A suspicion is what a pattern matches: a fault, and the lines it is about, the first of
// which in the difference it is reported on.
type suspicion struct {
	rule, severity, title string
	at                    []token.Pos
}

// patterns applies the patterns of this package to a file. A file that does not parse has
// none; go vet says why.
func patterns(f *File) (found []Finding) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, f.Path, f.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	p := &matcher{fset: fset, file: tree, test: strings.HasSuffix(f.Path, "_test.go"), number: map[ast.Expr]bool{}, types: typesOf(fset, tree)}
	ast.Inspect(tree, p.node)
	lines := strings.Split(f.text, "\n")
	ranges := f.Ranges()
	for _, s := range p.found {
		for _, at := range s.at {
			line := fset.Position(at).Line
			if !within(ranges, line) {
				continue
			}
			found = append(found, Finding{
				File: f.Path, Line: line, Severity: s.severity, Title: s.title,
				Evidence: strings.TrimSpace(lines[line-1]), Rule: "pawl/" + s.rule,
			})
			break
		}
	}
	return found
}

// A matcher collects what the patterns match in a file.
type matcher struct {
	fset  *token.FileSet
	file  *ast.File
	test  bool
	found []suspicion

	number map[ast.Expr]bool // differences that are compared with a number
	types  map[ast.Expr]types.TypeAndValue
}

func (m *matcher) report(rule, severity, title string, at ...token.Pos) {
	m.found = append(m.found, suspicion{rule, severity, title, at})
}

func (m *matcher) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.operands(n)
	case *ast.IfStmt:
		m.branches(n)
	case *ast.ForStmt:
		m.direction(n)
		m.deferred(n.Body, n.Init)
	case *ast.RangeStmt:
		m.deferred(n.Body, n)
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CommClause:
		m.statements(n.Body)
	case *ast.FuncDecl:
		if n.Body != nil {
			m.swallowed(n)
			m.locked(n.Body)
		}
	case *ast.FuncLit:
		m.locked(n.Body)
	}
	return true
}

// operands matches a comparison or calculation of a value with itself.
func (m *matcher) operands(n *ast.BinaryExpr) {
	if left, ok := n.X.(*ast.BinaryExpr); ok && (n.Op == token.EQL || n.Op == token.NEQ) && left.Op == token.SUB && literal(n.Y) {
		m.number[left] = true // x-x == 0 asks whether x is a finite number
	}
	switch _, name := n.X.(*ast.Ident); n.Op {
	case token.EQL, token.NEQ:
		if (name || n.Op == token.NEQ) && !exact(m.types[n.X].Type) {
			return // it may ask for NaN
		}
	case token.LAND, token.LOR, token.SUB, token.QUO, token.REM, token.AND, token.OR, token.XOR, token.AND_NOT,
		token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return
	}
	if m.test || m.number[n] { // tests compare a value with itself on purpose
		return
	}
	x := text(n.X)
	if x == text(n.Y) && pure(n.X) && !literal(n.X) {
		m.report("same-operands", Warning, fmt.Sprintf("both operands of %s are %s", n.Op, x), n.Pos(), n.Y.Pos())
	}
}

// branches matches branches that do the same, and a condition that repeats an earlier one.
func (m *matcher) branches(n *ast.IfStmt) {
	if last, ok := n.Else.(*ast.BlockStmt); ok && len(n.Body.List) > 0 && text(n.Body) == text(last) {
		m.report("same-branches", Warning, "both branches do the same", n.Pos(), last.Pos(), last.End()-1)
	}
	if n.Init != nil || !pure(n.Cond) {
		return
	}
	cond := text(n.Cond)
	for next, ok := n.Else.(*ast.IfStmt); ok && next.Init == nil; next, ok = next.Else.(*ast.IfStmt) {
		if text(next.Cond) == cond {
			m.report("same-condition", Warning, "this condition was tested before, so the branch never runs", next.Cond.Pos(), n.Cond.Pos())
		}
	}
}

// direction matches a loop that counts away from its bound, or counts another variable.
func (m *matcher) direction(n *ast.ForStmt) {
	cond, bounded := n.Cond.(*ast.BinaryExpr)
	step, counts := n.Post.(*ast.IncDecStmt)
	init, starts := n.Init.(*ast.AssignStmt)
	if !bounded || !counts || !starts || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return
	}
	name, stepped := text(init.Lhs[0]), text(step.X)
	up := cond.Op == token.LSS || cond.Op == token.LEQ
	down := cond.Op == token.GTR || cond.Op == token.GEQ
	switch {
	case text(cond.X) != name || !up && !down || assigns(n.Body, name):
	case stepped != name && mentions(cond.Y, stepped), stepped == name && mentions(cond.Y, name):
	case stepped != name:
		m.report("other-counter", Error, fmt.Sprintf("the loop tests %s and counts %s", name, stepped), step.Pos())
	case up && step.Tok == token.DEC && literal(init.Rhs[0]), down && step.Tok == token.INC: // an unsigned number may count down until it wraps
		m.report("wrong-direction", Error, fmt.Sprintf("the loop counts %s away from its bound", name), step.Pos())
	}
}

// deferred matches a defer in a loop that releases what one round of the loop acquired.
func (m *matcher) deferred(body *ast.BlockStmt, scope ast.Node) {
	if m.test { // tests end soon
		return
	}
	n := len(body.List)
	if n > 0 {
		switch last := body.List[n-1].(type) {
		case *ast.ReturnStmt:
			return // there is one round
		case *ast.BranchStmt:
			if last.Tok == token.BREAK {
				return
			}
		}
	}
	for _, s := range body.List {
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			continue
		}
		sel, ok := d.Call.Fun.(*ast.SelectorExpr)
		if !ok || len(d.Call.Args) > 0 {
			continue
		}
		switch name := base(sel.X); sel.Sel.Name {
		case "Close":
			if defines(body, name) {
				m.report("defer-in-loop", Warning, fmt.Sprintf("every round defers %s to the end of the function, so all stay open until then", text(d.Call)), d.Pos())
			}
		case "Unlock", "RUnlock":
			if name != "" && !defines(body, name) && !introduces(scope, name) {
				m.report("defer-in-loop", Error, fmt.Sprintf("%s runs at the end of the function, so the next round waits for a lock that is held", text(d.Call)), d.Pos())
			}
		}
	}
}
