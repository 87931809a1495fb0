package goedit

import (
	"container/heap"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// starts returns what a failing test uses, with distances. Uses near the failing line, or in
// the failing subtest, come first.
func (g *graph) starts(f Failure) map[*decl]float64 {
	dir, ok := g.dirOf(f.Package)
	out := map[*decl]float64{}
	from := func(d *decl, dist float64) {
		if old, ok := out[d]; !ok || dist < old {
			out[d] = dist
		}
	}
	parts := strings.Split(f.Test, "/")
	found := false
	for _, d := range g.decls {
		if path.Dir(d.file.path) != dir || !d.file.test || f.Test == "" {
			continue
		}
		fn, isFunc := d.node.(*ast.FuncDecl)
		top := isFunc && d.recv == "" && d.name == parts[0]
		suite := isFunc && d.recv != "" && slices.Contains(parts[1:], d.name)
		if !top && !suite {
			continue
		}
		found = true
		near := g.near(fn, d, dir, f)
		for _, u := range d.uses {
			dist := u.cost
			if !near(u.pos) {
				dist += farUse
			}
			from(u.of, dist)
		}
	}
	for _, d := range g.decls {
		switch {
		case found:
			// What runs when the package is loaded runs before every test.
			if ok && path.Dir(d.file.path) == dir && d.name == "init" {
				from(d, 3)
			}
		case !ok || path.Dir(d.file.path) == dir:
			from(d, 2)
		}
	}
	for _, l := range f.Locations {
		for _, d := range g.decls {
			if d.file == g.find(dir, l) && d.contains(g, l.Line) && d.file.editable {
				from(d, 1)
			}
		}
	}
	return out
}

// near returns a test of positions in a test function.
func (g *graph) near(fn *ast.FuncDecl, d *decl, dir string, f Failure) func(token.Pos) bool {
	type span struct{ from, to int }
	var spans []span
	for _, l := range f.Locations {
		if g.find(dir, l) == d.file && d.contains(g, l.Line) {
			spans = append(spans, span{l.Line - nearLines, l.Line})
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		name, isLit := call.Args[0].(*ast.BasicLit)
		body, isFunc := call.Args[1].(*ast.FuncLit)
		if !isLit || !isFunc || name.Kind != token.STRING {
			return true
		}
		if s, err := strconv.Unquote(name.Value); err == nil && slices.Contains(strings.Split(f.Test, "/")[1:], strings.ReplaceAll(s, " ", "_")) {
			spans = append(spans, span{g.line(body.Pos()), g.line(body.End())})
		}
		return true
	})
	return func(p token.Pos) bool {
		l := g.line(p)
		return len(spans) == 0 || slices.ContainsFunc(spans, func(s span) bool { return s.from <= l && l <= s.to })
	}
}

// reach is Dijkstra's algorithm over the uses. Helpers in test files are
// passed through at half the cost: they are glue, not code under test.
func (g *graph) reach(from map[*decl]float64) map[*decl]float64 {
	dist := map[*decl]float64{}
	var q queue
	for d, n := range from {
		heap.Push(&q, item{d, n})
	}
	for q.Len() > 0 {
		it := heap.Pop(&q).(item)
		if _, done := dist[it.d]; done {
			continue
		}
		dist[it.d] = it.dist
		for _, u := range it.d.uses {
			cost := u.cost
			if it.d.file.test {
				cost /= 2
			}
			if _, done := dist[u.of]; !done {
				heap.Push(&q, item{u.of, it.dist + cost})
			}
		}
	}
	return dist
}

type item struct {
	d    *decl
	dist float64
}

type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].dist < q[j].dist }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	it := old[len(old)-1]
	*q = old[:len(old)-1]
	return it
}
