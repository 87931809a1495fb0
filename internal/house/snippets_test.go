package house

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goBlock matches the Go code of a page; ```go skip is a deliberate exception.
var goBlock = regexp.MustCompile("(?ms)^```go(?: file=\\S+)?\n(.*?)^```$")

// wholeProgram matches the code of a whole file, which a comment may begin.
var wholeProgram = regexp.MustCompile(`(?m)^package \w+$`)

// TestGoSnippets compiles the whole programs that pages show, and checks the types of parts of
// programs.
func TestGoSnippets(t *testing.T) {
	tr := repository(t)
	c := checkerOf(t)
	snippets := 0
	for _, name := range tr.files {
		if name != "README.md" && !(strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md")) || strings.HasPrefix(name, "docs/decisions/") {
			continue
		}
		for _, m := range goBlock.FindAllStringSubmatch(tr.read(t, name), -1) {
			snippets++
			if wholeProgram.MatchString(m[1]) {
				if err := c.compile(m[1]); err != nil {
					t.Errorf("%s: a program does not compile: %v in\n%s", name, err, m[1])
				}
				continue
			}
			for _, problem := range c.problems(m[1]) {
				t.Errorf("%s: %s in\n%s", name, problem, m[1])
			}
		}
	}
	if snippets < 12 {
		t.Errorf("only %d snippets were found", snippets)
	}
}

// TestGoInComments checks the types of the code that comments show.
func TestGoInComments(t *testing.T) {
	c := checkerOf(t)
	snippets := 0
	for _, k := range repository(t).pkgs {
		for _, file := range k.files {
			for _, group := range file.ast.Comments {
				for _, block := range new(comment.Parser).Parse(group.Text()).Content {
					code, ok := block.(*comment.Code)
					if !ok || !c.isGo(code.Text) {
						continue
					}
					snippets++
					for _, problem := range c.problems(code.Text) {
						t.Errorf("%s: %s in\n%s", file.name, problem, code.Text)
					}
				}
			}
		}
	}
	if snippets < 25 {
		t.Errorf("only %d snippets were found", snippets)
	}
}

// A checker checks the types of parts of programs.
type checker struct {
	paths  map[string]string // import paths by the names of packages; ours come first
	ours   map[string]bool   // names of our packages
	lookup types.Importer
}

// compiled makes the checker once, of what go build has compiled.
var compiled = sync.OnceValues(func() (*checker, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Name}} {{.Export}}", "work")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	c := &checker{paths: map[string]string{}, ours: map[string]bool{}}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		at, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, file, _ := strings.Cut(rest, " ")
		files[at] = file
		ours := at == module || strings.HasPrefix(at, module+"/")
		if name == "main" || strings.Contains(at, "internal/") || strings.Contains(at, "/examples/") || !ours && c.paths[name] != "" {
			continue
		}
		c.paths[name] = at
		c.ours[name] = c.ours[name] || ours
	}
	c.lookup = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	return c, nil
})

// compile checks the types of a whole program.
func (c *checker) compile(text string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", text, 0)
	if err == nil {
		_, err = (&types.Config{Importer: c.lookup}).Check("main", fset, []*ast.File{file}, nil)
	}
	return err
}

func checkerOf(t *testing.T) *checker {
	t.Helper()
	c, err := compiled()
	must(t, err)
	return c
}

// isGo reports whether the code of a comment is Go: it declares something, or uses a package of ours.
func (c *checker) isGo(text string) bool {
	for _, m := range regexp.MustCompile(`\b(\w+)\.[A-Z]\w*[({]`).FindAllStringSubmatch(text, -1) {
		if c.ours[m[1]] {
			return true
		}
	}
	return regexp.MustCompile(`:=|(?m)^(func|type|var) `).MatchString(text)
}

// beyond matches what the compiler says of a part of a program only because the rest is missing.
var beyond = regexp.MustCompile(`^undefined: \w+$|^declared and not used|imported and not used|^missing return`)

// problems says what is wrong with a part of a program, in which … leaves something out.
// What the part does not declare is taken for declared elsewhere.
func (c *checker) problems(text string) (problems []string) {
	short := strings.Contains(text, "…")
	text = regexp.MustCompile(`\{\s*…\s*\}`).ReplaceAllString(text, "{}")
	text = regexp.MustCompile(`(?m)^\s*…\s*$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`,?\s*…`).ReplaceAllString(text, "")
	fset := token.NewFileSet()
	for _, frame := range []string{"func _() {\n" + text + "\n}", text} {
		file, err := parser.ParseFile(fset, "snippet.go", "package p\n"+frame, 0)
		problems = nil
		if err != nil {
			problems = []string{err.Error()}
			continue
		}
		imports := ""
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && slices.Contains(file.Unresolved, id) && c.paths[id.Name] != "" && !strings.Contains(imports, " "+id.Name+" ") {
					imports += fmt.Sprintf("import %s %q\n", id.Name, c.paths[id.Name])
				}
			}
			return true
		})
		if file, err = parser.ParseFile(fset, "snippet.go", "package p\n"+imports+frame, 0); err != nil {
			return []string{err.Error()}
		}
		check := types.Config{Importer: c.lookup, Error: func(err error) {
			said, _ := errors.AsType[types.Error](err)
			if !beyond.MatchString(said.Msg) && (!short || !strings.Contains(said.Msg, "not enough arguments")) {
				problems = append(problems, said.Msg)
			}
		}}
		_, _ = check.Check("p", fset, []*ast.File{file}, nil) // Error has its errors
		return problems
	}
	return problems
}
