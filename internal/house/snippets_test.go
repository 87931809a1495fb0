package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock matches the Go code of a page; ```go skip is a deliberate exception.
var goBlock = regexp.MustCompile("(?ms)^```go(?: file=\\S+)?\n(.*?)^```$")

// wholeProgram matches the code of a whole file, which a comment may begin.
var wholeProgram = regexp.MustCompile(`(?m)^package \w+$`)

// TestGoSnippets compiles the whole programs that pages show. Of a part of a program it
// checks the syntax, and that what it names of a package of ours exists.
func TestGoSnippets(t *testing.T) {
	tr := repository(t)
	exported := exportedNames(tr)
	snippets := 0
	for _, name := range tr.files {
		if name != "README.md" && !(strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md")) || strings.HasPrefix(name, "docs/decisions/") {
			continue
		}
		for _, m := range goBlock.FindAllStringSubmatch(tr.read(t, name), -1) {
			snippets++
			if wholeProgram.MatchString(m[1]) {
				if out := vet(t, tr.root, m[1]); out != "" {
					t.Errorf("%s: a program does not compile:\n%s", name, out)
				}
				continue
			}
			for _, problem := range snippetProblems(m[1], exported) {
				t.Errorf("%s: %s in\n%s", name, problem, m[1])
			}
		}
	}
	if snippets < 12 {
		t.Errorf("only %d snippets were found", snippets)
	}
}

// vet compiles a program in the workspace and returns what is wrong with it.
func vet(t *testing.T, root, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "snippet.go")
	if regexp.MustCompile(`(?m)^func Test`).MatchString(text) {
		file = strings.TrimSuffix(file, ".go") + "_test.go"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "vet", file)
	c.Dir = root
	out, err := c.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// exportedNames lists the exported top-level names of each package by the package's name.
// Packages with the same name are taken as one.
func exportedNames(tr *tree) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, k := range tr.pkgs {
		for _, s := range k.files {
			if s.test || strings.Contains(k.dir, "internal") || s.ast.Name.Name == "main" {
				continue
			}
			names := all[s.ast.Name.Name]
			if names == nil {
				names = map[string]bool{}
				all[s.ast.Name.Name] = names
			}
			for _, name := range topLevel(s) {
				names[name] = true
			}
		}
	}
	return all
}

// snippetProblems says what is wrong with a part of a program, in which … leaves
// something out.
func snippetProblems(text string, exported map[string]map[string]bool) (problems []string) {
	text = regexp.MustCompile(`\{\s*…\s*\}`).ReplaceAllString(text, "{}")
	text = regexp.MustCompile(`(?m)^\s*…\s*$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`,?\s*…`).ReplaceAllString(text, "")
	var file *ast.File
	var err error
	for _, frame := range []string{"package p\nfunc _() {\n" + text + "\n}", "package p\n" + text} {
		if file, err = parser.ParseFile(token.NewFileSet(), "snippet.go", frame, parser.SkipObjectResolution); err == nil {
			break
		}
	}
	if err != nil {
		return []string{err.Error()}
	}
	variables := map[string]bool{} // a variable may be named like a package
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					variables[id.Name] = true
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				variables[id.Name] = true
			}
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if ok && !variables[id.Name] && exported[id.Name] != nil && !exported[id.Name][sel.Sel.Name] {
			problems = append(problems, id.Name+"."+sel.Sel.Name+" does not exist")
		}
		return true
	})
	return problems
}

func TestGoSnippetsCatch(t *testing.T) {
	exported := exportedNames(repository(t))
	for text, bad := range map[string]bool{
		"agent := pawl.Agent{…}":                       false,
		"r, err := engine.Run(ctx, agent, input)\n…\n": false,
		"type sum struct{ A, B int }":                  false,
		"engine := thing()\nengine.Nowhere()":          false,
		"r := engine.Nowhere(ctx)":                     true,
		"if x {":                                       true,
	} {
		if problems := snippetProblems(text, exported); (len(problems) > 0) != bad {
			t.Errorf("%q: %q, want problems: %v", text, problems, bad)
		}
	}
	if vet(t, repository(t).root, "package main\n\nfunc main() { x() }\n") == "" {
		t.Error("a program that does not compile passes")
	}
}
