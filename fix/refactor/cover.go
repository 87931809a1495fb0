package refactor

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/cover"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/workspace"
)

// asWas is what the tests, with those that were added, say of the code as it was.
type asWas struct {
	state  string // of the edited tests
	report gotest.Report
	blocks map[string][]block // by file
}

// block is a part of a file whose statements are executed together.
type block struct {
	from, to int // lines
	runs     bool
}

// asWas runs the tests on the code as it was, with coverage. It does so once for each state of the tests.
func (r *Refactor) asWas(ctx context.Context, edits []edit) (*asWas, error) {
	var texts []string
	for _, e := range edits {
		if e.test && e.now != nil {
			texts = append(texts, e.name, *e.now)
		}
	}
	state := strings.Join(texts, "\x00")
	if r.was != nil && r.was.state == state {
		return r.was, nil
	}
	dir, err := os.MkdirTemp(r.source.State, "was-")
	if err != nil {
		return nil, fmt.Errorf("run the tests on the code as it was: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // the copy is removed with all of it
	suite, err := r.restored(ctx, dir, edits)
	if err != nil {
		return nil, fmt.Errorf("run the tests on the code as it was: %w", err)
	}
	g, err := testrun.ParseGoCommand(r.source.Test[2:])
	if err != nil {
		return nil, err
	}
	profile := filepath.Join(dir, "profile")
	args := slices.Concat([]string{"-count=1", "-vet=off", "-coverpkg=./...", "-coverprofile=" + profile}, g.Build, g.Packages, g.Args)
	got, err := suite.GoTest(ctx, args, r.Suite.Longest(), 0)
	if err != nil {
		return nil, fmt.Errorf("run the tests on the code as it was: %w", err)
	}
	w := &asWas{state: state, report: got.Report, blocks: map[string][]block{}}
	if state == "" { // it is the baseline, which passes; what fails with coverage alone is no matter
		w.report = gotest.Report{}
	}
	profiles, err := cover.ParseProfiles(profile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("run the tests on the code as it was: %w", err)
	}
	for _, p := range profiles {
		name, inside := strings.CutPrefix(p.FileName, r.Suite.Module()+"/")
		for _, b := range p.Blocks {
			if inside && b.NumStmt > 0 {
				w.blocks[name] = append(w.blocks[name], block{b.StartLine, b.EndLine, b.Count > 0})
			}
		}
	}
	r.was = w
	return w, nil
}

// restored runs the tests in another copy, in which the edited files other than tests are as they were. An overlay
// would not do: with it, go test measures the coverage of the files that are replaced.
func (r *Refactor) restored(ctx context.Context, dir string, edits []edit) (*testrun.Suite, error) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	t, err := workspace.Copy(ctx, r.Tree.Dir(), &workspace.Options{Dir: dir, Beside: project.Surroundings(r.Tree.Dir()), History: true})
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		at := filepath.Join(t.Dir(), filepath.FromSlash(e.name))
		switch {
		case e.test:
			continue
		case e.old != nil:
			err = os.WriteFile(at, []byte(*e.old), 0o600)
		default:
			err = os.Remove(at)
		}
		if err != nil {
			return nil, err
		}
	}
	return testrun.New(t.Dir(), r.source.Test, r.source.Env, time.Duration(r.source.Timeout), dir)
}

// untested lists the lines of a file as it was that another text changes and no test executes. What nothing
// in the package refers to does not count: that the package builds without it shows that it was not needed.
func (r *Refactor) untested(was *asWas, name, old, now string, edits []edit) []int {
	var missed []int
	for _, n := range touchedLines(old, now) {
		runs, counted := false, false
		for _, b := range was.blocks[name] {
			if b.from <= n && n <= b.to {
				runs, counted = runs || b.runs, true
			}
		}
		if counted && !runs {
			missed = append(missed, n)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	dead := deadLines(old, r.beside(name, edits))
	return slices.DeleteFunc(missed, func(n int) bool { return dead[n] })
}

// beside are the texts of the other Go files in a file's directory as they were.
func (r *Refactor) beside(name string, edits []edit) []string {
	list, err := fs.ReadDir(r.Root.FS(), path.Dir(name))
	if err != nil {
		return nil // the file has an unreadable directory, so nothing in it is known to be dead
	}
	var texts []string
	for _, e := range list {
		other := path.Join(path.Dir(name), e.Name())
		if other == name || !isGo(other) || slices.ContainsFunc(edits, func(e edit) bool { return e.name == other }) {
			continue
		}
		if data, _, err := r.Files.Read(other); err == nil {
			texts = append(texts, string(data))
		}
	}
	for _, e := range edits {
		if e.name != name && path.Dir(e.name) == path.Dir(name) && e.old != nil {
			texts = append(texts, *e.old)
		}
	}
	return texts
}

// touchedLines are the lines of a Go text whose tokens another text does not have, and those after which it
// has more. Comments, spaces between tokens, and lines of nothing but closing brackets do not count.
func touchedLines(old, now string) []int {
	var lines []int
	was, is := tokenLines(old, false), tokenLines(now, false)
	keep := func(all []tokenLine) string {
		var b strings.Builder
		for _, l := range all {
			b.WriteString(l.text + "\n")
		}
		return b.String()
	}
	before := keep(was)
	for _, e := range workspace.LineEdits(before, keep(is)) {
		first := strings.Count(before[:e.Start], "\n")
		last := first + strings.Count(before[e.Start:e.End], "\n")
		if first == last {
			first-- // it has more after this one
		}
		for i := max(first, 0); i < last; i++ {
			lines = append(lines, was[i].line)
		}
	}
	return slices.Compact(lines)
}

// tokenLine is the tokens that begin in a line.
type tokenLine struct {
	line int
	text string
}

// tokenLines are the lines of a Go text that have more than comments and closing brackets. A text of several
// lines belongs to the one in which it begins. With alike, all names of variables are the same.
func tokenLines(text string, alike bool) []tokenLine {
	type word struct {
		line int
		tok  token.Token
		lit  string
	}
	var words []word
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		words = append(words, word{file.Line(pos), tok, lit})
	}
	at := func(i int) token.Token {
		if i < 0 || i >= len(words) {
			return token.ILLEGAL
		}
		return words[i].tok
	}
	var all []tokenLine
	for i := 0; i < len(words); {
		l, more := tokenLine{line: words[i].line}, false
		for ; i < len(words) && words[i].line == l.line; i++ {
			w := words[i]
			closes := w.tok == token.RBRACE || w.tok == token.RPAREN || w.tok == token.RBRACK || w.tok == token.COMMA
			if closes && !more { // an else is the same after a bracket and on a line of its own
				continue
			}
			more = true
			if alike && w.tok == token.IDENT && at(i-1) != token.PERIOD && at(i+1) != token.PERIOD && at(i+1) != token.LPAREN {
				w.lit = "_"
			}
			l.text += strconv.Quote(w.lit) + " "
		}
		if more {
			all = append(all, l)
		}
	}
	return all
}

// spans writes lines as ranges.
func spans(lines []int) string {
	var parts []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		part := strconv.Itoa(lines[i])
		if j > i {
			part += "-" + strconv.Itoa(lines[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}

// unused reports whether a declaration is one of a name that nothing else in the files of its package mentions.
func unused(d ast.Decl, files []*ast.File) bool {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv != nil || f.Name.IsExported() || f.Name.Name == "main" || f.Name.Name == "init" || f.Name.Name == "_" {
		return false
	}
	mentioned := false
	for _, file := range files {
		for _, other := range file.Decls {
			if other == d {
				continue
			}
			ast.Inspect(other, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				mentioned = mentioned || ok && id.Name == f.Name.Name
				return !mentioned
			})
		}
	}
	return !mentioned
}

// deadLines are the lines of functions of a package's file that nothing in the package mentions. That
// the package builds without them shows that they were not needed.
func deadLines(text string, beside []string) map[int]bool {
	lines := map[int]bool{}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return lines
	}
	files := []*ast.File{file}
	for _, other := range beside {
		if f, err := parser.ParseFile(fset, "", other, parser.SkipObjectResolution); err == nil {
			files = append(files, f)
		}
	}
	for _, d := range file.Decls {
		if unused(d, files) {
			for n := fset.Position(d.Pos()).Line; n <= fset.Position(d.End()).Line; n++ {
				lines[n] = true
			}
		}
	}
	return lines
}
