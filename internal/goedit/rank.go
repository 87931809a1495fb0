package goedit

import (
	"container/heap"
	"go/ast"
	"go/token"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// suspect is a declaration that a failing test reaches.
type suspect struct {
	*decl
	score float64
	lines lineWeights
}

// lineWeights favours the lines that a failure names; every other weighs one.
type lineWeights map[int]float64

// The constants of the ranking are set by hand and checked on the corpus of
// the tests. They are mild on purpose: a fault two calls away from the test is
// nearly as common as one a single call away, and a likely kind of change
// should not drown in the unlikely ones of a nearer function.
const (
	perCall     = 0.35 // a declaration at distance 1+n weighs 1/(1+perCall*n)
	farUse      = 0.6  // added for a use that is not near the failing line
	nearLines   = 8    // how far above the failing line a use is near
	sharedGuilt = 0.4  // how much passing tests speak for what they reach
	namedFunc   = 1.5  // the message or the test's name contains its name
	onStack     = 1.6  // a trace goes through it
	onLine      = 2.0  // the very line that a trace names
	sameWord    = 0.15 // for each word that its name shares with the test's, at most three
)

// rank returns the declarations that the failing tests reach, in the order of
// the source, with their scores.
func rank(g *graph, h Hints) []suspect {
	blame := map[*decl]float64{}
	lines := map[*decl]lineWeights{}
	for _, f := range h.Failures {
		dist := g.reach(g.starts(f))
		for d, n := range dist {
			if !d.file.editable {
				continue
			}
			score := closeness(n) * affinity(d, f) / float64(len(h.Failures))
			dir, _ := g.dirOf(f.Package)
			for i, l := range f.Locations {
				if g.find(dir, l) != d.file || !d.contains(g, l.Line) {
					continue
				}
				if lines[d] == nil {
					lines[d] = lineWeights{}
					score *= onStack
				}
				// The first frame is where it happened; the others only led there.
				w := 1 + (onLine-1)/float64(1+i)
				lines[d][l.Line] = max(lines[d][l.Line], w)
			}
			blame[d] += score
		}
	}
	passing := map[*decl]float64{}
	for _, t := range h.Passed {
		for d, n := range g.reach(g.starts(Failure{Package: t.Package, Test: t.Name})) {
			passing[d] += closeness(n) / float64(len(h.Passed))
		}
	}
	var out []suspect
	for _, d := range g.decls {
		if blame[d] > 0 {
			out = append(out, suspect{d, blame[d] / (1 + sharedGuilt*passing[d]), lines[d].orOne(d, g)})
		}
	}
	return out
}

// orOne gives every line of d a weight.
func (w lineWeights) orOne(d *decl, g *graph) lineWeights {
	out := lineWeights{}
	for l := g.line(d.node.Pos()); l <= g.line(d.node.End()); l++ {
		out[l] = max(1, w[l])
	}
	return out
}

func closeness(dist float64) float64 { return 1 / (1 + perCall*math.Max(0, dist-1)) }

func (d *decl) contains(g *graph, line int) bool {
	return g.line(d.node.Pos()) <= line && line <= g.line(d.node.End())
}

// affinity says how much the words of a failure point to d.
func affinity(d *decl, f Failure) float64 {
	a := 1.0
	name := strings.ToLower(d.name)
	if len(name) > 2 && (mentions(f.Message, d.name) || strings.Contains(strings.ToLower(f.Test), name)) {
		a *= namedFunc
	}
	mine := words(d.name + " " + d.recv)
	shared := 0
	for _, w := range words(f.Test) {
		if slices.Contains(mine, w) {
			shared++
		}
	}
	return a * (1 + sameWord*float64(min(shared, 3)))
}

// mentions tells whether a text contains a name as a whole word.
func mentions(text, name string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], name)
		if j < 0 {
			return false
		}
		i += j
		if (i == 0 || !isWord(text[i-1])) && (i+len(name) == len(text) || !isWord(text[i+len(name)])) {
			return true
		}
		i += len(name)
	}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// words splits names at case changes, digits and signs: "ParseDate_zero" is
// parse, date and zero. Words of one or two letters say too little.
func words(s string) []string {
	var out []string
	start := 0
	flush := func(end int) {
		if w := strings.ToLower(s[start:end]); len(w) > 2 && w != "test" && !slices.Contains(out, w) {
			out = append(out, w)
		}
		start = end
	}
	for i := range len(s) {
		c := s[i]
		upper := 'A' <= c && c <= 'Z'
		letter := upper || 'a' <= c && c <= 'z'
		if !letter {
			flush(i)
			start = i + 1
		} else if upper && i > start && !('A' <= s[i-1] && s[i-1] <= 'Z') {
			flush(i)
		}
	}
	flush(len(s))
	return out
}

// starts returns what a failing test uses, with distances. Of a test's uses
// those near the failing line, or in the subtest that fails, come first.
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
