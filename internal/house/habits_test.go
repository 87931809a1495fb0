package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A file that does not fit in a head is two files.
const mostLines = 800

func TestFileLength(t *testing.T) {
	tr := repository(t)
	for _, name := range tr.files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if n := strings.Count(tr.read(t, name), "\n"); n > mostLines {
			t.Errorf("%s has %d lines, more than %d: one noun, one file", name, n, mostLines)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	for _, k := range repository(t).pkgs {
		if k.testOnly() {
			continue
		}
		docs := 0
		for _, s := range k.files {
			if s.test || s.ast.Doc == nil {
				continue
			}
			docs++
			text, want := s.ast.Doc.Text(), "Package "+s.ast.Name.Name+" "
			if s.ast.Name.Name != "main" && !strings.HasPrefix(text, want) {
				t.Errorf("%s: the package comment does not begin with %q", s.name, want)
			}
		}
		if docs != 1 {
			t.Errorf("%s has %d package comments, want one", k.dir, docs)
		}
	}
}

// undocumented lists the exported top-level names of a file that no comment explains.
func undocumented(fset *token.FileSet, s *source) []string {
	var found []string
	need := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if !id.IsExported() {
			return
		}
		for _, d := range docs {
			if strings.TrimSpace(d.Text()) != "" {
				return
			}
		}
		found = append(found, fmt.Sprintf("%s:%d: %s has no comment", s.name, fset.Position(id.Pos()).Line, id.Name))
	}
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			of := "" // the type that a method belongs to
			if d.Recv != nil {
				of = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")
			}
			if of == "" || ast.IsExported(of) && !selfEvident[d.Name.Name] {
				need(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if d.Lparen.IsValid() {
						need(spec.Name, spec.Doc)
					} else {
						need(spec.Name, spec.Doc, d.Doc)
					}
				case *ast.ValueSpec: // one comment may speak for a group of constants
					for _, id := range spec.Names {
						need(id, spec.Doc, spec.Comment, d.Doc)
					}
				}
			}
		}
	}
	return found
}

// Methods that the standard library has explained once for everybody.
var selfEvident = map[string]bool{
	"String": true, "GoString": true, "Format": true, "Error": true, "Unwrap": true, "Is": true, "As": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true, "MarshalYAML": true, "UnmarshalYAML": true,
	"Len": true, "Less": true, "Swap": true, "Close": true, "Read": true, "Write": true, "ServeHTTP": true,
}

func TestExportedNamesAreDocumented(t *testing.T) {
	tr := repository(t)
	for _, k := range tr.pkgs {
		for _, s := range k.files {
			if s.test || s.ast.Name.Name == "main" {
				continue
			}
			for _, f := range undocumented(tr.fset, s) {
				t.Error(f)
			}
		}
	}
}

// What is left to do belongs in an issue, where somebody sees it. The words are
// put together here so that the test does not find itself.
var leftover = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}, "|") + `)\b`)

func TestNothingIsLeftForLater(t *testing.T) {
	tr := repository(t)
	for _, name := range tr.files {
		if !slices.Contains([]string{".go", ".md", ".yml", ".yaml", ""}, path.Ext(name)) {
			continue
		}
		for i, line := range strings.Split(tr.read(t, name), "\n") {
			if w := leftover.FindString(line); w != "" {
				t.Errorf("%s:%d: %s", name, i+1, w)
			}
		}
	}
	if !leftover.MatchString("// TO" + "DO: later") {
		t.Error("the pattern finds nothing")
	}
}

// The root is what every user reads first. It is to hold 150 exported names and
// 6,500 lines; the limits are what it has, and only go down.
const (
	mostNames     = 235
	mostFiles     = 39
	mostRootLines = 7669
)

func TestRootBudget(t *testing.T) {
	tr := repository(t)
	root := tr.pkgs[0]
	var names, files, lines int
	for _, s := range root.files {
		if s.test {
			continue
		}
		files++
		lines += strings.Count(tr.read(t, s.name), "\n")
		names += len(topLevel(s))
	}
	t.Logf("root package: %d exported names of %d, %d files of %d, %d lines of %d", names, mostNames, files, mostFiles, lines, mostRootLines)
	for _, c := range []struct {
		what      string
		got, most int
	}{{"exported names", names, mostNames}, {"files", files, mostFiles}, {"lines", lines, mostRootLines}} {
		if c.got > c.most {
			t.Errorf("the root package has %d %s, more than %d: what belongs to the vocabulary and what does not?", c.got, c.what, c.most)
		}
	}
}

// mostLeaves is how many packages there are under internal, without tests and their kits. A leaf of one page joins
// the package that uses it, or one with the same users. The number only goes down.
const mostLeaves = 19

func TestLeaves(t *testing.T) {
	var leaves []string
	for _, k := range repository(t).pkgs {
		beside := slices.ContainsFunc([]string{"bench", "house", "testkit"}, func(name string) bool {
			return k.dir == "internal/"+name || strings.HasPrefix(k.dir, "internal/"+name+"/")
		})
		if internal(k.dir) && !beside && slices.ContainsFunc(k.files, func(s *source) bool { return !s.test }) {
			leaves = append(leaves, k.dir)
		}
	}
	if len(leaves) > mostLeaves || len(leaves) < mostLeaves/2 {
		t.Errorf("there are %d packages under internal, want at most %d and a tree that was read: %q", len(leaves), mostLeaves, leaves)
	}
}

// topLevel lists the exported types, functions, constants and variables of a
// file. Methods and fields are not counted: they are found through their type.
func topLevel(s *source) []string {
	var names []string
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id)
					}
				}
			}
		}
	}
	return names
}
