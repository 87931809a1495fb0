package testfix

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/ends"
)

// screen is one build for many edits, since compiling and linking take most of the time of
// trying an edit. Each edited function gets a copy for each edit, and first checks a variable
// that selects one (mutant schemata: Untch, Offutt and Harrold, "Mutation analysis using
// mutant schemata", ISSTA 1993). An edit that may be made, or that counts against a fix, is still
// judged by a build of its own.
type screen struct {
	bins map[string]string // test binaries, by import path
	has  map[*candidate]int

	converter []string // the command that turns the output of a test binary into events
}

// leastScreened is how many edits make a common build worth while.
const leastScreened = 4

// screenVar names the variable of the environment that says which edit is meant.
const screenVar = "PAWL_TRIED_EDIT"

// screened prepares the common build; nil when there is none.
func (t *trial) screened(ctx context.Context) *screen {
	has := map[*candidate]int{}
	var packages []string
	for i, c := range t.edits {
		if c.outcome == 0 && len(c.files) == 1 && len(t.affects.of(c)) > 0 {
			has[c] = i + 1
			for _, p := range t.affects.of(c) {
				if !slices.Contains(packages, p) {
					packages = append(packages, p)
				}
			}
		}
	}
	dir := filepath.Join(t.dir, "screen")
	s := &screen{bins: map[string]string{}, has: has, converter: t.fix.Suite.Converter(ctx)}
	// A copy that does not compile is taken out, and its edit left to a build
	// of its own, which says why.
	for range 4 {
		w := t.write(s, dir)
		if len(s.has) < leastScreened || w == nil {
			return nil
		}
		bad, err := s.build(ctx, t, w, dir, packages)
		if err == nil {
			return s
		}
		if len(bad) == 0 {
			return nil
		}
		for _, c := range bad {
			delete(s.has, c)
		}
	}
	return nil
}

// written are the files of a common build, and which lines of them are whose.
type written struct {
	overlay string             // the flag
	lines   map[string][]lines // by base name
}

type lines struct {
	from, to int
	of       *candidate
}

// write makes the files; the candidates that have no place in them are dropped.
func (t *trial) write(s *screen, dir string) *written {
	byFile := map[string][]*candidate{}
	for _, c := range t.edits {
		if _, ok := s.has[c]; ok {
			name := slices.Collect(maps.Keys(c.files))[0]
			byFile[name] = append(byFile[name], c)
		}
	}
	texts, where := map[string]string{}, map[string][]lines{} // by path
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		data, _, err := t.fix.Files.Read(name)
		if err != nil {
			return nil
		}
		text, at, pkg, in := schemata(string(data), byFile[name], s.has, name)
		for _, c := range byFile[name] {
			if !in[c] {
				delete(s.has, c)
			}
		}
		if len(in) == 0 {
			continue
		}
		texts[name], where[name] = text, at
		texts[path.Join(path.Dir(name), "pawl_tried_edit.go")] = "package " + pkg + "\n\nimport \"os\"\n\nvar pawlTried = os.Getenv(\"" + screenVar + "\")\n"
	}
	w := &written{lines: map[string][]lines{}}
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		w.lines[fmt.Sprintf("%d.go", i)] = where[name]
	}
	var err error
	if w.overlay, err = testrun.Overlay(dir, texts); err != nil {
		return nil
	}
	return w
}

// schemata rewrites a file. Edits that are not within the body of one function
// that can be copied are left out.
func schemata(text string, edits []*candidate, number map[*candidate]int, name string) (out string, where []lines, pkg string, in map[*candidate]bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	in = map[*candidate]bool{}
	if err != nil {
		return text, nil, "", in
	}
	copies, cases := "", map[*ast.FuncDecl]string{}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	first := 2 + strings.Count(text, "\n") // the switches add no line
	for _, c := range edits {
		after := c.files[name]
		from, to := differs(text, after)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || from <= offset(f.Body.Lbrace) || to > offset(f.Body.Rbrace) {
				continue
			}
			call, ok := forward(f, number[c])
			if !ok {
				continue
			}
			start, end := offset(f.Pos()), offset(f.End())+len(after)-len(text)
			at := offset(f.Name.End())
			code := after[start:at] + tag(number[c]) + after[at:end]
			line := first + strings.Count(copies, "\n")
			where = append(where, lines{line, line + strings.Count(code, "\n"), c})
			copies += code + "\n"
			cases[f] += fmt.Sprintf(" case %q: %s;", strconv.Itoa(number[c]), call)
			in[c] = true
		}
	}
	out = text
	for _, d := range slices.Backward(file.Decls) {
		if f, ok := d.(*ast.FuncDecl); ok && cases[f] != "" {
			at := offset(f.Body.Lbrace) + 1
			out = out[:at] + " switch pawlTried {" + cases[f] + " };" + out[at:]
		}
	}
	return out + "\n" + copies, where, file.Name.Name, in
}

func tag(n int) string { return fmt.Sprintf("_pawlTried%d", n) }

// differs returns the piece of a text that another does not share.
func differs(a, b string) (from, to int) {
	from, low := ends.Common([]byte(a), []byte(b))
	return from, len(a) - low
}

// forward is the call of a function's copy with the function's own arguments; false if they
// cannot be named.
func forward(f *ast.FuncDecl, n int) (string, bool) {
	call := f.Name.Name + tag(n)
	switch {
	case f.Name.Name == "init" || f.Name.Name == "main" || f.Name.Name == "_":
		return "", false
	case f.Recv != nil:
		if len(f.Recv.List) != 1 || len(f.Recv.List[0].Names) != 1 || f.Recv.List[0].Names[0].Name == "_" {
			return "", false
		}
		call = f.Recv.List[0].Names[0].Name + "." + call
	case f.Type.TypeParams != nil:
		var names []string
		for _, p := range f.Type.TypeParams.List {
			for _, id := range p.Names {
				names = append(names, id.Name)
			}
		}
		call += "[" + strings.Join(names, ", ") + "]"
	}
	var args []string
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			return "", false
		}
		_, variadic := p.Type.(*ast.Ellipsis)
		for _, id := range p.Names {
			if id.Name == "_" {
				return "", false
			}
			if args = append(args, id.Name); variadic {
				args[len(args)-1] += "..."
			}
		}
	}
	call += "(" + strings.Join(args, ", ") + ")"
	if f.Type.Results != nil && len(f.Type.Results.List) > 0 {
		return "return " + call, true
	}
	return call + "; return", true
}

var screenLine = regexp.MustCompile(`screen/(\d+\.go):(\d+)`)

// build compiles the test binaries. If that fails, it returns whose copies are at fault.
func (s *screen) build(ctx context.Context, t *trial, w *written, dir string, packages []string) ([]*candidate, error) {
	for i, pkg := range packages {
		bin := filepath.Join(dir, fmt.Sprintf("%d.test", i))
		args := slices.Concat([]string{"test", "-c", "-vet=off", "-gcflags=-e", w.overlay, "-o", bin},
			t.fix.Suite.Undescribed(ctx), runFlags(t.command.Build, false), []string{pkg})
		if _, err := t.fix.Suite.GoTool(ctx, args...); err != nil {
			var bad []*candidate
			for _, m := range screenLine.FindAllStringSubmatch(err.Error(), -1) {
				n, _ := strconv.Atoi(m[2])
				for _, l := range w.lines[m[1]] {
					if l.from <= n && n <= l.to {
						bad = append(bad, l.of)
					}
				}
			}
			return bad, err
		}
		s.bins[pkg] = bin
	}
	return nil, nil
}

// run runs tests with an edit of the common build, those of a package no longer than limit.
func (s *screen) run(ctx context.Context, t *trial, c *candidate, packages, pattern []string, limit time.Duration, memory int64) (testrun.GoTested, error) {
	var all testrun.GoTested
	for i, pkg := range packages {
		argv := slices.Concat(s.converter, []string{"-t", "-p", pkg, s.bins[pkg], "-test.v=test2json", "-test.count=1", "-test.paniconexit0",
			"-test.timeout=" + limit.String()}, runFlags(t.command.Build, true))
		for _, p := range pattern {
			argv = append(argv, strings.Replace(p, "-run=", "-test.run=", 1))
		}
		if len(t.command.Args) > 0 {
			argv = append(argv, t.command.Args[1:]...)
		}
		at := filepath.Join(t.fix.Suite.Dir, filepath.FromSlash(t.affects.dirs[pkg]))
		ran, err := t.fix.Suite.Tested(ctx, testrun.TestCommand{
			Argv: argv, Dir: at, Env: append(slices.Clone(t.fix.Suite.Env), screenVar+"="+strconv.Itoa(s.has[c])),
			Limit: limit, Ahead: limit + 5*testrun.StartSlack, Memory: memory, Alone: pkg,
		})
		if err != nil {
			return testrun.GoTested{}, err
		}
		if i == 0 {
			all = ran
			continue
		}
		all.Report.Packages = append(all.Report.Packages, ran.Report.Packages...)
		all.Report.Failures = append(all.Report.Failures, ran.Report.Failures...)
		all.Slowest = max(all.Slowest, ran.Slowest)
		if ran.Stopped != nil {
			all.Stopped = ran.Stopped
		}
	}
	all.Ran = true // it was built, whatever it says of itself
	return all, nil
}

// leaves reports whether a test fails with an edit, given what the tests said that failed before
// it. A test counts that fails twice, since one may fail by chance.
func (s *screen) leaves(ctx context.Context, t *trial, c *candidate, packages []string, ran testrun.GoTested, memory int64) (bool, error) {
	for failed := t.now(ran).Report.Open(); ; {
		all, err := s.run(ctx, t, c, packages, nil, t.fix.Suite.Longest(), memory)
		if err != nil {
			return false, err
		}
		t.note(all)
		now := t.now(all).Report.Open()
		if len(failed) > 0 || len(now) == 0 {
			return slices.ContainsFunc(now, func(id string) bool { return slices.Contains(failed, id) }), nil
		}
		failed = now
	}
}
