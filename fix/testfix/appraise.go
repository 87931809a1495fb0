package testfix

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/workspace"
)

// Bounds on an appraisal.
const (
	appraiseTime   = 30 * time.Second
	mostAppraised  = 6 // changes of a fix
	mostListed     = 2000
	mostNeighbours = 32 // edits tried in place of one change
	fewNeighbours  = 8  // if so many fail, the tests tell the change from others
	nearLines      = 2  // how far from the change a neighbour may be
	mostOthers     = 2
	mostFull       = 4 // edits with which every test passes that are compared with the fix
)

// An Appraisal says whether a fix that passes all tests is more than plausible. Tests that pass
// prove little: a patch may satisfy them and be wrong ("plausible" and "correct" patches: Qi,
// Long, Achour and Rinard, "An analysis of patch plausibility and correctness for
// generate-and-validate patch generation systems", ISSTA 2015).
type Appraisal struct {
	Plausible bool // no evidence beyond the failing tests was found
	Evidence  []Evidence
	Others    []Other // edits that could take the place of a change, at most two for each
	// Changes are inputs, made from the values of the tests, for which the project printed
	// something else before the fix.
	Changes []Changed
}

// Confidence is an estimate of how likely the fix is right, from 0 to 1: 0.3 if something speaks
// against it, 0.9 if something speaks for each change and nothing against, and 0.5 otherwise.
func (a *Appraisal) Confidence() float64 {
	switch {
	case slices.ContainsFunc(a.Evidence, func(e Evidence) bool { return !e.For && e.Kind != "none" }):
		return 0.3
	case a.Plausible || len(a.Evidence) == 0:
		return 0.5
	}
	return 0.9
}

// Other is another edit with which every test passes, in place of one change of the fix.
type Other struct {
	Says string // the edit, and an input for which it and the fix differ

	file, text string
}

// Use puts another edit in the place of a change.
func (f *Fix) Use(o Other) error {
	_, perm, err := f.Files.Read(o.file)
	if err != nil {
		return err
	}
	return f.Files.Write(o.file, []byte(o.text), perm)
}

// Evidence is one finding about a fix.
type Evidence struct {
	// Kind is removal, hold-out, neighbours, other, copied or none.
	Kind string `json:"kind"`
	// For says whether it speaks for the fix.
	For  bool   `json:"for"`
	Says string `json:"says"`
}

// Appraise looks for evidence that the fix is right, after a success. It takes back each change
// of the fix, one at a time, in a copy of its own. Then some test must fail; more than one test
// may be made to pass by the change alone, which only one of them was needed to propose; and no
// other small edit near it should make every test pass.
func (f *Fix) Appraise(ctx context.Context) (Appraisal, error) {
	d, err := f.Diff(ctx)
	if err != nil {
		return Appraisal{}, err
	}
	var a Appraisal
	if !testrun.IsGoTest(f.source.Test) {
		a.unknown("the tests pass, and nothing else can be examined for this test command")
		return a, nil
	}
	ctx, end := context.WithTimeoutCause(ctx, appraiseTime, errEnough)
	defer end()
	g, changes, err := f.bench(ctx, d)
	if err == nil {
		for i, c := range changes {
			if i == mostAppraised {
				a.unknown(fmt.Sprintf("only %d of %d changes were examined", i, len(changes)))
				break
			}
			if err = g.appraise(ctx, c, &a); err != nil {
				break
			}
		}
		if err == nil {
			a.Changes = g.changes(ctx, f.originals(d))
		}
		err = errors.Join(err, g.Close())
	}
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errEnough):
		a.unknown(fmt.Sprintf("it was not examined to the end within %v", appraiseTime))
	default:
		return a, fmt.Errorf("examine the fix: %w", err)
	}
	return a, nil
}

func (a *Appraisal) unknown(why string) {
	a.Plausible = true
	a.Evidence = append(a.Evidence, Evidence{Kind: "none", Says: why})
}

// change is one place where the fix differs from the project.
type change struct {
	file         string
	line         int // in the text without the change
	lines        int
	old, new     string
	without, all string // the file's text without the change, and with it
}

func (c change) String() string {
	return fmt.Sprintf("%s:%d %s → %s", c.file, c.line, quoted(strings.Split(c.old, "\n")), quoted(strings.Split(c.new, "\n")))
}

// bench makes a copy of the project with the fix, to try other changes in, and lists the fix's.
func (f *Fix) bench(ctx context.Context, d Diff) (*Fix, []change, error) {
	t, err := project.Make(ctx, f.source.Dir, filepath.Dir(f.Tree.StateDir()))
	if err != nil {
		return nil, nil, err
	}
	s := f.source
	s.State = t.StateDir()
	g, err := start(t, f.model, s, f.limits)
	if err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	f.Mu.Lock()
	g.first, g.flaky, g.away, g.pace = f.first, f.flaky, f.away, f.pace
	g.Suite.Learn(f.Suite)
	g.outside, g.reach = f.outside, f.reach
	f.Mu.Unlock()
	var changes []change
	for _, c := range d.Changes.Changes {
		after, perm, err := f.Files.Read(c.Path)
		before, _, missing := g.Files.Read(c.Path)
		if err != nil || missing != nil { // it is new or gone, which no edit replaces
			changes = append(changes, change{file: c.Path})
		} else {
			changes = append(changes, hunks(c.Path, string(before), string(after))...)
		}
		at := filepath.Join(t.Dir(), filepath.FromSlash(c.Path))
		if err != nil {
			err = os.Remove(at)
		} else if err = os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			err = os.WriteFile(at, after, perm)
		}
		if err != nil {
			return nil, nil, errors.Join(err, g.Close())
		}
		g.edited[c.Path] = true
	}
	if err := g.knows(ctx, f.seenSo(), f.originals(d), changes); err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	return g, changes, nil
}

// seenSo are the latest states of the files that the tests saw, after the first of all.
func (f *Fix) seenSo() []cached {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	latest := f.cache[max(0, len(f.cache)-mostProved+1):]
	return append([]cached{{ran: *f.first}}, latest...)
}

// knows remembers what the tests said of states that taking a change back may lead to.
func (f *Fix) knows(ctx context.Context, seen []cached, originals map[string]string, changes []change) error {
	if slices.ContainsFunc(changes, func(c change) bool { return c.without == "" }) {
		return nil // files came or went, which texts do not say
	}
	for _, c := range seen {
		texts := maps.Clone(originals)
		maps.Copy(texts, c.texts)
		if err := f.prove(ctx, texts, c.ran); err != nil {
			return err
		}
	}
	return nil
}

// appraise examines one change.
func (f *Fix) appraise(ctx context.Context, c change, a *Appraisal) error {
	if c.without == "" {
		a.unknown(c.file + " is new or gone")
		return nil
	}
	if value := copied(c, f.first.Report); value != "" {
		a.Plausible = true
		a.Evidence = append(a.Evidence, Evidence{Kind: "copied", Says: fmt.Sprintf("%s:%d has the value %s of a failing test", c.file, c.line, value)})
	}
	if err := f.put(c.file, c.without); err != nil {
		return err
	}
	defer func() { _ = f.put(c.file, c.all) }() // the copy is removed in the end
	base, err := f.current(ctx)
	if err != nil {
		return err
	}
	if len(base.verdict.Open) == 0 {
		a.Plausible = true
		a.Evidence = append(a.Evidence, Evidence{Kind: "removal", Says: "no test notices when this change is taken back: " + c.String()})
		return nil
	}
	tests := functions(base.report())
	if len(tests) > 1 {
		a.Evidence = append(a.Evidence, Evidence{Kind: "hold-out", For: true, Says: fmt.Sprintf("%d tests pass by this change alone, and one of them would have been enough to find it: %s", len(tests), c)})
	}
	tried, others, unseen, err := f.neighbours(ctx, base, c)
	if err != nil {
		return err
	}
	for _, o := range others {
		a.Plausible = true
		a.Evidence = append(a.Evidence, Evidence{Kind: "other", Says: "every test passes with another edit, too: " + o.Says})
	}
	a.Others = append(a.Others, others...)
	switch {
	case len(others) > 0:
	case unseen > 0:
		a.unknown(fmt.Sprintf("every test passes with %d of %d other edits near %s:%d, and whether they make another program could not be seen", unseen, tried, c.file, c.line))
	case tried >= fewNeighbours:
		a.Evidence = append(a.Evidence, Evidence{Kind: "neighbours", For: true, Says: fmt.Sprintf("of %d other edits near %s:%d none makes every test pass", tried, c.file, c.line)})
	case len(tests) < 2:
		a.unknown(fmt.Sprintf("one test alone shows that %s:%d was wrong", c.file, c.line))
	}
	return nil
}

func (f *Fix) put(name, text string) error {
	at := filepath.Join(f.Tree.Dir(), filepath.FromSlash(name))
	return os.WriteFile(at, []byte(text), 0o600)
}

// functions returns the test functions that fail.
func functions(r gotest.Report) map[string]bool {
	found := map[string]bool{}
	for _, x := range r.Failures {
		name, _, _ := strings.Cut(x.Test, "/")
		found[x.Package+"."+name] = true
	}
	return found
}

// neighbours tries other edits near a change, in its place. It returns how many were tried, some
// with which every test passes, and how many of those could not be compared with the change.
func (f *Fix) neighbours(ctx context.Context, base cached, c change) (tried int, others []Other, unseen int, err error) {
	o := &goedit.Options{Limit: mostListed, Importer: f.imports(ctx)}
	list, err := goedit.Candidates(f.Root.FS(), hintsOf(base.report()), o)
	if err != nil {
		return 0, nil, 0, err
	}
	var args tryArgs
	for _, e := range list {
		if e.File == c.file && e.Line >= c.line-nearLines && e.Line < c.line+c.lines+nearLines && len(args.Edits) < mostNeighbours {
			args.Edits = append(args.Edits, proposed(e))
		}
	}
	if len(args.Edits) == 0 {
		return 0, nil, 0, nil
	}
	args.Runs = mostTryRuns
	f.Running.Lock()
	defer f.Running.Unlock()
	t, err := f.trial(ctx, base, args)
	if err != nil {
		return 0, nil, 0, err
	}
	defer t.close()
	t.wanted = mostFull
	for _, x := range t.edits {
		if maps.Equal(x.files, map[string]string{c.file: c.all}) {
			x.outcome = refused // it is the change itself
		}
	}
	t.all(ctx)
	if err := errors.Join(t.err, context.Cause(ctx)); err != nil {
		return 0, nil, 0, err
	}
	var full []*candidate
	for _, x := range t.edits {
		if x.outcome == stillFails || x.outcome == fixed || x.outcome == endless {
			tried++
		}
		if x.outcome == fixed && x.open == 0 {
			full = append(full, x)
		}
	}
	others, unseen, err = f.others(ctx, t, c, full, o)
	return tried, others, unseen, err
}

// imports knows the packages outside the module; nil: they are not known.
func (f *Fix) imports(ctx context.Context) types.Importer {
	if f.outside == nil {
		found, err := goedit.Exports(ctx, f.Tree.Dir(), f.Suite.Env)
		if err != nil {
			return nil
		}
		f.outside = found
	}
	return f.outside
}

// failedTests returns a package whose tests failed, and their functions.
func failedTests(r gotest.Report) (pkg string, tests []string) {
	if len(r.Failures) == 0 {
		return "", nil
	}
	pkg = r.Failures[0].Package
	for _, name := range slices.Sorted(maps.Keys(functions(r))) {
		if test, ok := strings.CutPrefix(name, pkg+"."); ok && test != "" {
			tests = append(tests, test)
		}
	}
	return pkg, tests
}

// others returns those edits with which every test passes that make another program than the fix
// does, as far as inputs like those of the tests show, and how many could not be compared with it:
// their tests did not build a second time, which says nothing about the fix.
func (f *Fix) others(ctx context.Context, t *trial, c change, full []*candidate, o *goedit.Options) (others []Other, unseen int, err error) {
	if len(full) == 0 {
		return nil, 0, nil
	}
	pkg, tests := failedTests(t.base.report())
	p, err := f.prober(pkg, t.affects.dirs[pkg], tests, o)
	if err != nil {
		return nil, 0, err
	}
	fix, _ := p.both(ctx, map[string]string{c.file: c.all}, full[0].files)
	for _, x := range full {
		if len(others) == mostOthers {
			break
		}
		other := p.build(ctx, x.files)
		var w []witness
		if fix != "" && other != "" {
			if w = p.differ(ctx, fix, other, 1); len(w) == 0 && ctx.Err() == nil {
				_ = os.Remove(other) // it makes the same program
				continue
			}
		}
		if err := errors.Join(context.Cause(ctx), t.whole(ctx, x)); err != nil {
			return nil, 0, err
		}
		switch {
		case x.outcome != fixed || x.open > 0:
		case len(w) == 0:
			unseen++
		default:
			says := hunk(c.file, []byte(c.without), []byte(x.files[c.file])) + "; " + w[0].String()
			others = append(others, Other{Says: says, file: c.file, text: x.files[c.file]})
		}
	}
	return others, unseen, nil
}

// hunks returns the changes that make one text of another, whole lines each. An import that comes
// or goes with the only other change is a part of it.
func hunks(name, before, after string) []change {
	var list []change
	edits := lineEdits(before, after)
	var code []lineEdit
	for _, e := range edits {
		if !importing(before[e.Start:e.End]) || !importing(e.New) {
			code = append(code, e)
		}
	}
	if len(code) == 1 && len(edits) > 1 {
		e := code[0]
		return []change{{
			file: name, line: 1 + strings.Count(after[:e.at], "\n"), lines: max(1, strings.Count(before[e.Start:e.End], "\n")),
			old: before[e.Start:e.End], new: e.New, without: before, all: after,
		}}
	}
	for _, e := range edits {
		old := before[e.Start:e.End]
		// The change alone taken back: all others stay.
		without := after[:e.at] + old + after[e.at+len(e.New):]
		list = append(list, change{
			file: name, line: 1 + strings.Count(after[:e.at], "\n"), lines: max(1, strings.Count(old, "\n")),
			old: old, new: e.New, without: without, all: after,
		})
	}
	return list
}

var importLine = regexp.MustCompile(`^\s*(?:import\b.*|\)|(?:[\w.]+ )?"[^"]+")?\s*$`)

// importing reports whether whole lines do nothing but import.
func importing(text string) bool {
	for line := range strings.Lines(text) {
		if !importLine.MatchString(line) {
			return false
		}
	}
	return true
}

// copied returns a value that a change brings in and that a failing test has; empty: there is
// none. Short ones occur everywhere.
func copied(c change, r gotest.Report) string {
	for _, word := range literals(c.new) {
		if strings.Contains(c.without, word) {
			continue
		}
		for _, x := range r.Failures {
			if plain := strings.Trim(word, `"`+"`"); x.Want != "" && strings.Trim(x.Want, `"`) == plain {
				return excerpt.Clip(word, 60)
			}
		}
	}
	return ""
}

// lineEdit is an edit of whole lines, and where its text is in the result.
type lineEdit struct {
	workspace.Edit

	at int
}

func lineEdits(before, after string) []lineEdit {
	var list []lineEdit
	shift := 0
	for _, e := range workspace.LineEdits(before, after) {
		list = append(list, lineEdit{e, e.Start + shift})
		shift += len(e.New) - (e.End - e.Start)
	}
	return list
}

// literals returns the literals of numbers and texts in a piece of Go.
func literals(text string) []string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	var list []string
	for {
		_, kind, word := s.Scan()
		switch kind {
		case token.EOF:
			return list
		case token.INT, token.FLOAT, token.STRING, token.CHAR:
			list = append(list, word)
		}
	}
}
