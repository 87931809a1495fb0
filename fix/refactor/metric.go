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
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
)

// The names of metrics. All are of the code without its tests, and less is better.
const (
	Lines      = "lines"      // lines that have more than comments
	Complexity = "complexity" // cyclomatic complexity: the sum of its squares over all functions, so that two simple functions are better than one; Go only
	Command    = "cmd"        // what a command prints
)

// A Metric is what must become less. The zero Metric is Complexity for Go, and Lines for other code.
type Metric struct {
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"` // of Command: an argument vector that runs in the copy and prints a number
}

// or checks the metric, and chooses one if there is none.
func (m Metric) or(golang bool) (Metric, error) {
	switch {
	case m.Name == "" && golang:
		m.Name = Complexity
	case m.Name == "":
		m.Name = Lines
	case m.Name == Complexity && !golang:
		return m, errors.New("the metric complexity is for Go; name lines or a command")
	case m.Name == Command && len(m.Command) == 0:
		return m, errors.New("the metric cmd names no command; write cmd:COMMAND, which prints a number")
	case m.Name != Lines && m.Name != Complexity && m.Name != Command:
		return m, fmt.Errorf("there is no metric %q; name lines, complexity or cmd:COMMAND", m.Name)
	}
	return m, nil
}

// Counts says what the metric counts.
func (m Metric) Counts() string {
	return map[string]string{Lines: "lines of code", Complexity: "squares of cyclomatic complexity", Command: "what the command prints"}[m.Name]
}

// value takes the metric.
func (r *Refactor) value(ctx context.Context) (float64, error) {
	if r.source.Metric.Name == Command {
		return r.run(ctx)
	}
	total := 0.0
	for name, text := range r.code {
		if r.source.Metric.Name == Lines {
			total += lines(text)
			continue
		}
		n, err := complexity(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		total += n
	}
	return total, nil
}

// measureTime bounds the command of a metric.
const measureTime = 5 * time.Minute

// run runs the command of the metric.
func (r *Refactor) run(ctx context.Context) (float64, error) {
	inner, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	argv := r.source.Metric.Command
	out, said := display.NewBuffer(4<<10), display.NewBuffer(4<<10)
	exit, err := process.Run(inner, process.Command{Argv: argv, Dir: r.Tree.Dir(), Env: r.Suite.Env, Stdout: out, Stderr: said, Grace: time.Second})
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("metric %s: %w", argv[0], context.Cause(ctx))
	case err != nil:
		return 0, fmt.Errorf("metric %s: %w", argv[0], err)
	case exit.Killed || exit.Code != 0:
		return 0, fmt.Errorf("metric %s: %s: %s", argv[0], exit, strings.TrimSpace(said.String()))
	}
	text := strings.TrimSpace(out.String())
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("metric %s printed %q; it is to print a number", argv[0], display.Clip(text, 200))
	}
	return n, nil
}

// skipped are the directories of other code.
var skipped = regexp.MustCompile(`^[._]|^(vendor|node_modules|testdata)$`)

// code are the files of the code, without tests, generated files and dependencies.
func (r *Refactor) code(yield func(name, text string) bool) {
	ext := ".py"
	if testrun.IsGoTest(r.source.Test) {
		ext = ".go"
	}
	_ = fs.WalkDir(r.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not counted, before and after
		case d.IsDir() && name != "." && skipped.MatchString(base):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(name) != ext || project.IsTest(name):
			return nil
		}
		data, _, err := r.Files.Read(name)
		if err != nil || strings.HasPrefix(string(data), "// Code generated ") {
			return nil //nolint:nilerr // as above
		}
		if !yield(name, string(data)) {
			return fs.SkipAll
		}
		return nil
	})
}

// lines counts the lines of a file that have more than a comment of one line and closing brackets.
func lines(text string) (n float64) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Trim(line, "})],") != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
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
