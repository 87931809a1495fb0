package goedit

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// suspect is a declaration that a failing test reaches.
type suspect struct {
	*decl
	score float64
	lines lineWeights // named by a failure
	seen  *coverage   // nil without spectra
}

// lineWeights favours the lines that a failure names; every other weighs one.
type lineWeights map[int]float64

func (s suspect) line(n int) float64 { return max(1, s.lines[n]) * s.seen.weight(n) }

// The constants of the ranking are set by hand and checked on the corpus of the tests. They
// are mild on purpose: a fault two calls away from the test is nearly as common as one a
// single call away, and a likely kind of change should not be hidden by unlikely ones in a
// nearer function.
const (
	perCall     = 0.35 // a declaration at distance 1+n weighs 1/(1+perCall*n)
	farUse      = 0.6  // added for a use that is not near the failing line
	nearLines   = 8    // how far above the failing line a use is near
	sharedGuilt = 0.4  // how much passing tests exonerate the lines they execute
	namedFunc   = 1.5  // the message or the test's name contains its name
	sameWord    = 0.15 // for each word that its name shares with the test's, at most three
	onStack     = 1.6  // a trace goes through it
	onLine      = 2.0  // the very line that a trace names
	farBlame    = 0.3  // of lines that the graph does not reach but the spectra do
	// With spectra, the call graph adds little: the power that its score is raised to.
	besideSpectra = 0.35
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
		if len(h.Spectra) > 0 {
			break // which say the same more exactly
		}
		for d, n := range g.reach(g.starts(Failure{Package: t.Package, Test: t.Name})) {
			passing[d] += closeness(n) / float64(len(h.Passed))
		}
	}
	spectra := newSpectra(g, h)
	help := map[string]float64{} // by directory
	var out []suspect
	for _, d := range g.decls {
		seen := spectra.of(d)
		if blame[d] == 0 && seen.executed() && d.file.editable {
			blame[d] = farBlame // called in a way that the graph does not show
		}
		if blame[d] > 0 {
			score := blame[d] / (1 + sharedGuilt*passing[d])
			if seen != nil {
				score = math.Pow(score, besideSpectra)
			}
			if g.isOfError(d, h) {
				score *= speaks
			}
			if dir := d.file.dir(); help[dir] == 0 {
				help[dir] = times(g.helpsTests(dir), helper)
			}
			score *= help[d.file.dir()]
			out = append(out, suspect{d, score, lines[d], seen})
		}
	}
	return out
}

func closeness(dist float64) float64 { return 1 / (1 + perCall*math.Max(0, dist-1)) }

func (d *decl) contains(g *graph, line int) bool {
	return g.line(d.node.Pos()) <= line && line <= g.line(d.node.End())
}

// affinity says how much the words of a failure point to d. The tests that people write are named
// after what they are about.
func affinity(d *decl, f Failure) float64 {
	a, name := 1.0, strings.ToLower(d.name)
	if len(name) > 2 && (mentions(f.Output, d.name) || strings.Contains(strings.ToLower(f.Test), name)) {
		a = namedFunc
	}
	mine, shared := words(d.name+" "+d.recv), 0
	for _, w := range words(f.Test) {
		if slices.Contains(mine, w) {
			shared++
		}
	}
	return a * (1 + sameWord*float64(min(shared, 3)))
}

var word = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// words are the words of names, each once: "ParseDate_zero" is parse, date and zero. Words of one
// or two letters say too little.
func words(s string) []string {
	var list []string
	for _, w := range word.FindAllString(s, -1) {
		if w = strings.ToLower(w); len(w) > 2 && w != "test" && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// mentions reports whether a text contains a name as a whole word.
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
