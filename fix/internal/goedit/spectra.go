package goedit

import (
	"go/ast"
	"math"
	"path"
)

// spectra turns counts of tests into suspicion: Ochiai's coefficient, which
// found faults with the fewest lines looked at when Abreu, Zoeteweij and van
// Gemund compared such formulas ("On the accuracy of spectrum-based fault
// localization", 2007):
//
//	failed(line) / sqrt(allFailed * (failed(line) + passed(line)))
//
// The highest value is scaled to one.
type spectra struct {
	g     *graph
	files map[string]map[int]float64 // by path and line
}

// sharp is the power that the coefficient is raised to. Half of the passing tests execute
// most lines that a failing test executes; the plain coefficient separates these too little
// from others to outweigh how likely a kind of fault is. DStar (Wong et al., 2014) is sharper
// for the same reason.
const sharp = 2.5

// unseen is the weight of a line that no failing test executed. It is not zero, because a
// test that kills its process leaves no coverage.
const unseen = 0.001

func newSpectra(g *graph, h Hints) *spectra {
	all := 0
	for _, s := range h.Spectra {
		all = max(all, s.Failed)
	}
	if all == 0 {
		return nil
	}
	out := &spectra{g: g, files: map[string]map[int]float64{}}
	top := 0.0
	for l, s := range h.Spectra {
		if s.Failed <= 0 {
			continue
		}
		file := path.Clean(l.File)
		if out.files[file] == nil {
			out.files[file] = map[int]float64{}
		}
		v := float64(s.Failed) / math.Sqrt(float64(all)*float64(s.Failed+max(0, s.Passed)))
		out.files[file][l.Line] = v
		top = max(top, v)
	}
	for _, lines := range out.files {
		for l := range lines {
			lines[l] = math.Pow(lines[l]/top, sharp)
		}
	}
	return out
}

// coverage is the suspicion of the lines of one declaration.
type coverage struct {
	lines map[int]float64
	whole float64 // of a declaration that is read, not run
}

// of returns nil when there are no spectra.
func (s *spectra) of(d *decl) *coverage {
	if s == nil {
		return nil
	}
	fn, ok := d.node.(*ast.FuncDecl)
	if !ok {
		return &coverage{whole: s.readers(d)}
	}
	lines := s.files[d.file.path]
	c := &coverage{lines: map[int]float64{}}
	from, end := s.g.line(fn.Pos()), s.g.line(fn.End())
	for l := from; l <= end; l++ {
		if v := lines[l]; v > 0 {
			c.lines[l] = v
		}
	}
	if fn.Body == nil {
		return c
	}
	if len(fn.Body.List) > 0 {
		c.lines[from] = max(c.lines[from], c.lines[s.g.line(fn.Body.List[0].Pos())])
	}
	// The conditions of a switch are not in the block that they lead to, but
	// the go command counts only blocks.
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.SwitchStmt:
			body = n.Body
		case *ast.TypeSwitchStmt:
			body = n.Body
		case *ast.SelectStmt:
			body = n.Body
		default:
			return true
		}
		for _, clause := range body.List {
			l := s.g.line(clause.Pos())
			c.lines[l] = max(c.lines[l], c.lines[s.g.line(n.Pos())])
		}
		return true
	})
	return c
}

// readers is the highest suspicion of the lines that use a variable, constant
// or type.
func (s *spectra) readers(d *decl) float64 {
	top := 0.0
	for _, other := range s.g.decls {
		for _, u := range other.uses {
			if u.of == d && other != d {
				top = max(top, s.files[other.file.path][s.g.line(u.pos)])
			}
		}
	}
	return top
}

func (c *coverage) executed() bool { return c != nil && (len(c.lines) > 0 || c.whole > 0) }

func (c *coverage) weight(line int) float64 {
	if c == nil {
		return 1
	}
	return max(unseen, c.whole, c.lines[line])
}
