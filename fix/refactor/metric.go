package refactor

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
)

// The metrics. All are of the code without its tests, and less is better.
const (
	Lines      = "lines"      // lines that have more than comments
	Complexity = "complexity" // cyclomatic complexity: the sum of its squares over all functions, so that two simple functions are better than one; Go only
	Duplicates = "duplicates" // lines in runs of four and more that the code has twice, but for names of variables in Go
	Places     = "places"     // places for the mechanical refactoring that is the goal; Go only
	Command    = "cmd"        // what a command prints
)

// metricWords name what a metric counts.
var metricWords = map[string]string{
	Lines: "lines of code", Complexity: "squares of cyclomatic complexity", Duplicates: "duplicate lines",
	Places: "places for the refactoring", Command: "what the command prints",
}

// Counts says what a metric counts.
func Counts(metric string) string { return metricWords[metric] }

// metricFor returns the metric of a goal.
func metricFor(goal string, o *Options, golang bool) (string, error) {
	kind := KindOf(goal)
	switch o.Metric {
	case "":
		switch {
		case kind != "" && golang:
			return Places, nil
		case golang:
			return Complexity, nil
		}
		return Lines, nil
	case Lines, Duplicates:
		return o.Metric, nil
	case Complexity:
		if !golang {
			return "", errors.New("the metric complexity is for Go; name lines, duplicates or a command")
		}
		return o.Metric, nil
	case Places:
		if kind == "" || !golang {
			return "", fmt.Errorf("the metric places is for mechanical refactorings of Go code: %s; name lines, complexity, duplicates or a command", strings.Join(Kinds(), ", "))
		}
		return o.Metric, nil
	case Command:
		if len(o.Measure) == 0 {
			return "", errors.New("the metric cmd names no command; write cmd:COMMAND, which prints a number")
		}
		return o.Metric, nil
	}
	return "", fmt.Errorf("there is no metric %q; name lines, complexity, duplicates or cmd:COMMAND", o.Metric)
}

// value takes the metric.
func (r *Refactor) value(ctx context.Context) (float64, error) {
	switch r.source.Metric {
	case Places:
		list, err := r.places(ctx, r.kind)
		return float64(len(list)), err
	case Command:
		return r.run(ctx)
	}
	total := 0.0
	var texts []string
	for name, text := range r.code {
		switch r.source.Metric {
		case Lines:
			total += float64(len(significant(name, text, false)))
		case Complexity:
			n, err := complexity(text)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			total += n
		default:
			texts = append(texts, strings.Join(significant(name, text, true), "\n"))
		}
	}
	if r.source.Metric == Duplicates {
		total = float64(duplicateLines(texts))
	}
	return total, nil
}

// measureTime bounds the command of a metric.
const measureTime = 5 * time.Minute

// run runs the command of the metric.
func (r *Refactor) run(ctx context.Context) (float64, error) {
	inner, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	out, said := excerpt.New(4<<10), excerpt.New(4<<10)
	exit, err := process.Run(inner, process.Command{Argv: r.source.Measure, Dir: r.Tree.Dir(), Env: r.Suite.Env, Stdout: out, Stderr: said, Grace: time.Second})
	name := r.source.Measure[0]
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("metric %s: %w", name, context.Cause(ctx))
	case err != nil:
		return 0, fmt.Errorf("metric %s: %w", name, err)
	case exit.Killed || exit.Code != 0:
		return 0, fmt.Errorf("metric %s: %s: %s", name, exit, strings.TrimSpace(said.String()))
	}
	text := strings.TrimSpace(out.String())
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		shown, _ := excerpt.Cut(text, 200)
		return 0, fmt.Errorf("metric %s printed %q; it is to print a number", name, shown)
	}
	return n, nil
}

// code are the files of the code, without tests, generated files, dependencies, and other modules.
func (r *Refactor) code(yield func(name, text string) bool) {
	ext := ".py"
	if r.golang() {
		ext = ".go"
	}
	_ = fs.WalkDir(r.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not counted, before and after
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "vendor" || base == "node_modules" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() && name != "." && r.isModule(name):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(name) != ext || project.IsTest(name):
			return nil
		}
		data, _, err := r.Files.Read(name)
		if err != nil || generated(string(data)) {
			return nil //nolint:nilerr // as above
		}
		if !yield(name, string(data)) {
			return fs.SkipAll
		}
		return nil
	})
}

func (r *Refactor) isModule(dir string) bool {
	info, err := fs.Stat(r.Root.FS(), path.Join(dir, "go.mod"))
	return err == nil && info.Mode().IsRegular()
}

// generated reports whether a Go file says that it is generated; see go help generate.
func generated(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.") {
			return true
		}
		if strings.HasPrefix(line, "package ") {
			return false
		}
	}
	return false
}

// significant are the lines of a file that have more than comments and, in Go, closing brackets. With alike, all
// names of variables are the same in Go.
func significant(name, text string, alike bool) []string {
	var kept []string
	if isGo(name) {
		for _, l := range tokenLines(text, alike) {
			kept = append(kept, l.text)
		}
		return kept
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return kept
}

// window is how many lines make a duplicate.
const window = 4

// duplicateLines counts the lines of texts that belong to runs of lines that stand elsewhere, too, each
// but for the first time.
func duplicateLines(texts []string) int {
	slices.Sort(texts)
	seen := map[string]bool{}
	total := 0
	for _, text := range texts {
		lines := strings.Split(text, "\n")
		until := 0 // lines before this one are counted
		for i := 0; i+window <= len(lines); i++ {
			key := strings.Join(lines[i:i+window], "\n")
			if !seen[key] {
				seen[key] = true
				continue
			}
			total += i + window - max(i, until)
			until = i + window
		}
	}
	return total
}

// complexity is the sum of the squares of the cyclomatic complexity of a file's functions: one more than
// the branches, cases and short-circuit operators of each.
func complexity(text string) (float64, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, d := range file.Decls {
		n := 1.0
		ast.Inspect(d, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
				n++
			case *ast.CaseClause:
				if x.List != nil {
					n++
				}
			case *ast.CommClause:
				if x.Comm != nil {
					n++
				}
			case *ast.BinaryExpr:
				if x.Op == token.LAND || x.Op == token.LOR {
					n++
				}
			}
			return true
		})
		if _, ok := d.(*ast.FuncDecl); ok || n > 1 {
			total += n * n
		}
	}
	return total, nil
}
