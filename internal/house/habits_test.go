package house

import (
	"go/ast"
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

// The root is what every user reads first. It is to hold 150 exported names and
// 6,500 lines; the limits are what it has, and only go down. What a sum adds was granted as in TestSize.
const (
	mostNames     = 236 + 4
	mostFiles     = 32 + 1
	mostRootLines = 8128 + 230
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
