package refactor

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// The mechanical refactorings.
const (
	kindModernise  = "modernise"
	kindReturns    = "early returns"
	kindInline     = "inline single use"
	kindDuplicates = "extract duplicates"
)

// Kinds lists the goals that are mechanical refactorings of Go code: they keep what it does by their form.
func Kinds() []string { return []string{kindModernise, kindReturns, kindInline, kindDuplicates} }

// KindOf returns the mechanical refactoring that a goal names; empty: it names none.
func KindOf(goal string) string {
	switch goal = strings.Trim(strings.ToLower(strings.Join(strings.FieldsFunc(goal, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), " ")), ".!"); goal {
	case kindModernise, "modernize", "go fix":
		return kindModernise
	case kindReturns, "early return", "return early":
		return kindReturns
	case kindInline, "inline single use variables":
		return kindInline
	case kindDuplicates, "extract duplicate", "duplicates":
		return kindDuplicates
	}
	return ""
}

// place is where a mechanical refactoring is possible.
type place struct {
	file  string
	line  int
	what  string
	edits []textEdit // in order, not overlapping
}

func (p place) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.what) }

// textEdit replaces a part of a file.
type textEdit struct {
	file     string
	from, to int // bytes
	with     string
}

// source is a file of a package to look for places in.
type source struct {
	*goPackage
	*goFile
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

func (s *source) textOf(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

func (s *source) edit(from, to token.Pos, with string) textEdit {
	return textEdit{s.name, s.offset(from), s.offset(to), with}
}

// commented reports whether a comment is between two places.
func (s *source) commented(from, to token.Pos) bool {
	return slices.ContainsFunc(s.file.Comments, func(g *ast.CommentGroup) bool { return g.Pos() < to && from < g.End() })
}

// places finds where a mechanical refactoring is possible, by packages and files.
func (r *Refactor) places(ctx context.Context, kind string) ([]place, error) {
	list, err := r.load(ctx, nil)
	if err != nil {
		return nil, err
	}
	var all []place
	var every []*source
	for _, p := range list {
		sources := sources(p)
		every = append(every, sources...)
		switch kind {
		case kindModernise:
		case kindDuplicates:
			all = append(all, duplicates(sources)...)
		default:
			for _, s := range sources {
				if kind == kindReturns {
					all = append(all, earlyReturns(s)...)
				} else {
					all = append(all, singleUses(s)...)
				}
			}
		}
	}
	if kind == kindModernise {
		state := r.state()
		all, known := r.fixable[state]
		if !known {
			if all, err = r.modern(ctx, every); err != nil {
				return nil, err
			}
			r.fixable = map[string][]place{state: all}
		}
		return all, nil
	}
	return all, nil
}

// sources are the files of a package that are not generated and are formatted by gofmt, without which a rule
// would change more than it means to.
func sources(p *goPackage) []*source {
	var all []*source
	for _, f := range p.files {
		if !generated(f.text) && formatted(f.text) {
			all = append(all, &source{p, f})
		}
	}
	return all
}

func formatted(text string) bool {
	out, err := format.Source([]byte(text))
	return err == nil && string(out) == text
}

// with are the files after some places were refactored, and those places. What overlaps an earlier one is
// left for another time.
func (r *Refactor) with(list []place) (texts map[string]string, done []place, err error) {
	edits := map[string][]textEdit{}
	for _, p := range list {
		if slices.ContainsFunc(p.edits, func(e textEdit) bool { return slices.ContainsFunc(edits[e.file], e.overlaps) }) {
			continue
		}
		for _, e := range p.edits {
			if !slices.Contains(edits[e.file], e) {
				edits[e.file] = append(edits[e.file], e)
			}
		}
		done = append(done, p)
	}
	texts = map[string]string{}
	for name, list := range edits {
		data, _, err := r.Files.Read(name)
		if err != nil {
			return nil, nil, err
		}
		text := string(data)
		slices.SortStableFunc(list, func(a, b textEdit) int { return a.from - b.from })
		for _, e := range slices.Backward(list) {
			text = text[:e.from] + e.with + text[e.to:]
		}
		if texts[name], err = project.Tidy(string(data), text); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return texts, done, nil
}

// overlaps reports whether two edits cannot both be made. Equal insertions, as of an import, are one.
func (e textEdit) overlaps(o textEdit) bool {
	if e == o && e.from == e.to {
		return false
	}
	return e.from < o.to && o.from < e.to || e.from == o.from && e.from < e.to && o.from < o.to
}

// byRulesArgs are the arguments of the tool.
type byRulesArgs struct {
	Kind string `json:"kind,omitempty" jsonschema:"modernise, early returns, inline single use or extract duplicates; that of the goal when left out"`
}

// byRulesResult is its result.
type byRulesResult struct {
	Changed []string `json:"changed"`        // places, each as file:line: what
	Left    []string `json:"left,omitempty"` // places that were left alone, and why
	// Untested are the lines, each as file:line in the project, that no test executes and that stood in the way.
	Untested []string `json:"untested,omitempty"`
}

func (b *byRulesResult) says() string {
	text := fmt.Sprintf("It refactored %d places.", len(b.Changed))
	if len(b.Changed) == 1 {
		text = "It refactored one place."
	}
	if len(b.Left) > 0 {
		text += fmt.Sprintf(" It left %d alone: %s", len(b.Left), strings.Join(b.Left[:min(len(b.Left), 10)], "; "))
		if more := len(b.Left) - 10; more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		text += "."
	}
	return text
}

// mostRounds bounds how often places are looked for, since a refactoring can make others possible.
const mostRounds = 8

// byRules refactors all places of a kind. It begins and ends in a state that the tests bear.
func (r *Refactor) byRules(ctx context.Context, a byRulesArgs) (byRulesResult, error) {
	kind := r.kind
	if a.Kind != "" {
		if kind = KindOf(a.Kind); kind == "" {
			return byRulesResult{}, fmt.Errorf("there is no kind %q; name one of %s", a.Kind, strings.Join(Kinds(), ", "))
		}
	}
	if kind == "" {
		return byRulesResult{}, fmt.Errorf("the goal is no mechanical refactoring; name one of %s", strings.Join(Kinds(), ", "))
	}
	r.Running.Lock()
	defer r.Running.Unlock()
	if err := r.takeBack(ctx); err != nil { // of a process that died
		return byRulesResult{}, err
	}
	l, err := r.look(ctx)
	if err != nil {
		return byRulesResult{}, err
	}
	if !l.kept() {
		return byRulesResult{}, errors.New("this needs a state in which nothing but the measure is open; see what is open, or undo")
	}
	out := byRulesResult{Changed: []string{}}
	barred := map[string]string{} // why places are left alone, by file and what is there
	for range mostRounds {
		found, err := r.places(ctx, kind)
		if err != nil {
			return byRulesResult{}, err
		}
		out.Left, out.Untested = nil, nil
		var usable []place
		for _, p := range found {
			why, untested, err := r.unfit(ctx, p, barred)
			if err != nil {
				return byRulesResult{}, err
			}
			if untested != "" {
				out.Untested = append(out.Untested, untested)
			}
			if why == "" {
				usable = append(usable, p)
			} else {
				out.Left = append(out.Left, p.String()+" ("+why+")")
			}
		}
		done, err := r.tryAll(ctx, usable, barred)
		if err != nil {
			return byRulesResult{}, err
		}
		for _, p := range done {
			out.Changed = append(out.Changed, p.String())
		}
		if len(usable) == 0 {
			break
		}
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.memory.Left = out.Left
	return out, r.save()
}

// Left lists the places that were left alone when the code was last refactored by rules, and why.
func (r *Refactor) Left() []string {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.memory.Left
}

// unfit says why a place is left alone; empty: it is not. untested is the line, as it was, that no test executes,
// if that is why.
func (r *Refactor) unfit(ctx context.Context, p place, barred map[string]string) (why, untested string, err error) {
	if why = barred[p.file+"\x00"+p.what]; why != "" {
		return why, "", nil
	}
	texts, _, err := r.with([]place{p})
	if err != nil {
		return "the rule does not fit: " + err.Error(), "", nil //nolint:nilerr // the place is left alone
	}
	edits := r.edits()
	was, err := r.asWas(ctx, edits)
	if err != nil {
		return "", "", err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		now, _, err := r.Files.Read(name)
		if err != nil {
			return "", "", err
		}
		old := string(now)
		if i := slices.IndexFunc(edits, func(e edit) bool { return e.name == name }); i >= 0 {
			if edits[i].old == nil {
				continue
			}
			old = *edits[i].old
		}
		already, text := r.untested(was, name, old, string(now), edits), texts[name]
		for _, n := range r.untested(was, name, old, text, edits) {
			if !slices.Contains(already, n) {
				return "no test executes it", name + ":" + strconv.Itoa(n), nil
			}
		}
	}
	return "", "", nil
}

// tryAll refactors places together or, if the tests do not bear that, file by file.
func (r *Refactor) tryAll(ctx context.Context, list []place, barred map[string]string) ([]place, error) {
	done, why, err := r.try(ctx, list)
	if err != nil || why == "" {
		return done, err
	}
	byFile := map[string][]place{}
	for _, p := range list {
		byFile[p.file] = append(byFile[p.file], p)
	}
	var all []place
	changed := map[string]bool{} // files, in which the places are elsewhere now and are found again
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		list := slices.DeleteFunc(byFile[name], func(p place) bool {
			return slices.ContainsFunc(p.edits, func(e textEdit) bool { return changed[e.file] })
		})
		done, why := []place(nil), why
		if len(byFile) > 1 {
			if done, why, err = r.try(ctx, list); err != nil {
				return nil, err
			}
		}
		if why != "" {
			for _, p := range list {
				barred[p.file+"\x00"+p.what] = why
			}
		}
		for _, p := range done {
			for _, e := range p.edits {
				changed[e.file] = true
			}
		}
		all = append(all, done...)
	}
	return all, nil
}

// try refactors places. If the tests do not bear it, it takes the edits back and says why.
func (r *Refactor) try(ctx context.Context, list []place) (done []place, why string, err error) {
	if len(list) == 0 {
		return nil, "", nil
	}
	texts, done, err := r.with(list)
	if err != nil {
		return nil, "the rule does not fit: " + err.Error(), nil //nolint:nilerr // the places are left alone
	}
	if err := r.trying(r.state()); err != nil {
		return nil, "", err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := r.Files.Writable(name); err != nil {
			return nil, err.Error(), r.takeBack(ctx)
		}
		_, perm, err := r.Files.Read(name)
		if err == nil {
			err = r.Files.Write(name, []byte(texts[name]), perm)
		}
		if err != nil {
			return nil, "", errors.Join(err, r.takeBack(ctx))
		}
	}
	l, err := r.look(ctx)
	if err != nil {
		return nil, "", err
	}
	if !l.kept() {
		return nil, l.Why[0], r.takeBack(ctx)
	}
	return done, "", r.trying("")
}

// trying notes, durably, that edits of a state are being made which are taken back unless the tests bear them;
// empty: no more.
func (r *Refactor) trying(state string) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.memory.Trying = state
	return r.save()
}

// takeBack takes back edits that are being tried, if there are any.
func (r *Refactor) takeBack(ctx context.Context) error {
	state := r.state()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.memory.Trying == "" {
		return nil
	}
	if r.memory.Trying != state {
		if _, err := r.Tree.Undo(ctx); err != nil {
			return err
		}
	}
	r.memory.Trying = ""
	return r.save()
}
