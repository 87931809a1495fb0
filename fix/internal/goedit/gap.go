package goedit

import (
	"go/ast"
	"math"
	"regexp"
	"strings"
)

// A gap is a case that the program does not handle, where it handles the others: of many cases
// that a test goes through one fails. A slip, such as a wrong operator, makes most of them fail.

// widestGap is the most that edits about a few cases are favoured by.
const widestGap = 2.0

// aReport begins a message of a test.
var aReport = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: `)

// gap says how much speaks for a gap, from one to widestGap: how many cases the failing tests
// go through for each that they report.
func (g *graph) gap(h Hints) float64 {
	sum, n := 0.0, 0
	siblings := map[string]int{} // failing tests by the function they are in
	top := func(f Failure) string {
		name, _, _ := strings.Cut(f.Test, "/")
		return f.Package + "." + name
	}
	for _, f := range h.Failures {
		if strings.Contains(f.Test, "/") {
			siblings[top(f)]++
		}
	}
	for _, f := range h.Failures {
		cases := 0
		for _, d := range g.decls {
			name, _, _ := strings.Cut(f.Test, "/")
			if dir, ok := g.dirOf(f.Package); ok && d.file.test && d.name == name && d.file.dir() == dir {
				cases = max(cases, g.cases(d))
			}
		}
		reports := max(1, siblings[top(f)], len(aReport.FindAllString(f.Output, -1)))
		if cases > 0 {
			sum += math.Log2(float64(max(cases, reports)) / float64(reports))
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return max(1, min(widestGap, sum/float64(n)))
}

// cases is about how many cases a test goes through: the rows of its longest table, or the
// calls that it makes one after the other.
func (g *graph) cases(d *decl) int {
	most := func(n ast.Node) int {
		rows, calls := 0, 0
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				rows = max(rows, len(n.Elts))
			case *ast.ExprStmt:
				if c, ok := n.X.(*ast.CallExpr); ok && len(c.Args) > 0 {
					calls++
				}
			}
			return true
		})
		return max(rows, calls)
	}
	n := most(d.node)
	for _, u := range d.uses {
		if _, table := u.of.node.(*ast.ValueSpec); table && u.of.file.test {
			n = max(n, most(u.of.node))
		}
	}
	return n
}
