// Package goedit proposes small repairs of Go source: given a module and the tests that
// fail in it, it lists single edits, one operator, bound, name, condition or statement each,
// the likeliest first. Candidates runs nothing and knows no particular program: it uses the
// syntax, the types, the call graph, the lines that the tests executed, and the words and
// positions in the failures' messages. Inputs of a test never become a condition, and wanted
// values never become an answer; how the got and wanted values differ only decides which
// edits come first, and which of the program's own texts is wrong.
//
// This is mutation-based repair in its plainest form: the operators are the classic mutation
// operators (relational, arithmetic and logical operator replacement, constants off by one,
// negated decisions; King and Offutt, "A Fortran language system for mutation-based software
// testing", 1991) applied backwards, on the competent programmer hypothesis that a fault is
// one small step from the right code. Missing code is taken from the code around ("plastic
// surgery", see ingredients.go). Sites are ranked by coverage spectra if there are any, since
// these need a run of each test, and otherwise by static call distance.
package goedit

import (
	"cmp"
	"crypto/sha256"
	"go/types"
	"io/fs"
	"math"
	"slices"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// Edit replaces one piece of one file.
type Edit struct {
	// File is a slash path relative to the module's root.
	File string `json:"file"`
	// Line is where the change is, counting from one.
	Line int `json:"line"`
	// Old occurs exactly once in the file as it was given; New takes its
	// place. Both are whole lines, apart from the indentation.
	Old string `json:"old"`
	New string `json:"new"`
	// Also holds replacements of the same kind elsewhere in the file that belong to
	// the edit: an import that it needs, or that it leaves without a use.
	Also []Piece `json:"also,omitempty"`
	// Rule says in words what kind of change it is, such as "comparison
	// operator < → <=".
	Rule string `json:"rule"`
	// Weight is how likely the edit seemed: positive, without unit, comparable
	// within one list only.
	Weight float64 `json:"weight"`
}

// Piece replaces a text that occurs exactly once in its file.
type Piece struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Hints describe the failures.
type Hints struct {
	Failures []Failure
	// Passed names tests that pass: code that they call as well is suspected
	// a little less. It may be left empty.
	Passed []Test
	// Spectra says how many tests executed a line. It replaces the call graph
	// as the measure of suspicion; empty, there is only the graph to go by. A
	// line that no test executed may be left out.
	Spectra map[Location]Spectrum
}

// Spectrum counts the tests that executed a line.
type Spectrum struct{ Failed, Passed int }

// Failure is one failing test or, with an empty Test, a package that fails as
// a whole.
type Failure = gotest.Failure

// Test names a test by import path and name, subtests with slashes.
type Test struct{ Package, Name string }

// Location is a line of a file, relative to the module's root or, if it is in
// the failing package, a base name.
type Location = gotest.Location

// Options may be nil.
type Options struct {
	// Limit bounds the list; below one it means 500.
	Limit int
	// Importer knows the packages outside the module; see [Exports]. With it, edits
	// that would not compile are left out. Nil: their types are unknown, and some edits
	// do not compile.
	Importer types.Importer
}

const defaultLimit = 500

// Candidates lists edits of the module at root, likeliest first, in an order
// that depends on nothing but the arguments and, where build constraints are
// concerned, the platform. Each edit alone leaves a file that
// parses, and one that gofmt would not change if that held before. Test files, packages
// that help tests (their names begin or end with "test", and no test of theirs fails),
// generated files, vendor and testdata are never edited; files that do not
// parse are left alone. A module without a go.mod in root is taken for one
// whose packages' paths end in their directories' names.
//
// The error is that of reading root, or says that it has no Go files.
func Candidates(root fs.FS, h Hints, o *Options) ([]Edit, error) {
	limit := defaultLimit
	if o != nil && o.Limit > 0 {
		limit = o.Limit
	}
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	m.spare(h.Failures)
	var outside types.Importer
	if o != nil {
		outside = o.Importer
	}
	g := newGraph(m, outside)
	suspects := rank(g, h)
	clues := newClues(h)
	gap, lean := g.gap(h), clues.leaning()
	var sites []site
	for _, s := range suspects {
		if !s.decl.file.editable {
			continue
		}
		alone := times(g.tracesOf(s.decl.file.dir()).copies[s.decl], copyOf)
		g.lend(s.decl.file)
		for _, c := range mutate(g, s.decl, clues) {
			line := s.line(c.line)
			line = math.Pow(line, c.bearing(line))
			if c.mild() {
				c.weight *= gap
			}
			c.weight *= s.score * lean[c.class] * usual(c.class) * line * alone
			sites = append(sites, c)
		}
	}
	slices.SortStableFunc(sites, compareSites)
	mix(sites)

	var edits []Edit
	var weak []Edit
	seen := map[[sha256.Size]byte]bool{}
	for _, c := range sites {
		if len(edits) == limit {
			break
		}
		after, ok := c.result(g)
		if !ok {
			continue
		}
		sum := sha256.Sum256(append([]byte(c.file.path+"\x00"), after...))
		if seen[sum] {
			continue
		}
		seen[sum] = true
		e := Edit{File: c.file.path, Line: c.line, Rule: c.rule, Weight: c.weight}
		e.Old, e.New = narrow(string(c.file.src), string(after), c.line)
		if len(c.imports) > 0 {
			if e.Also, ok = importPieces(c.file, e, c.imports); !ok {
				continue
			}
		}
		if c.weak {
			e.Weight *= hardly
			weak = append(weak, e)
			continue
		}
		edits = append(edits, e)
	}
	edits = append(edits, weak[:min(len(weak), limit-len(edits))]...)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(b.Weight, a.Weight) })
	return edits, nil
}
