package faults

import (
	"bytes"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	kindLine   = regexp.MustCompile(`(?m)^Kind: .+\.$`)
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
)

// Every archive is a module of a believable size whose right files differ from
// the given ones, and which the compiler takes: with the fault, unless that is
// what is wrong, and without.
func TestCorpus(t *testing.T) {
	needGo(t)
	all := corpus(t)
	if len(all) < 40 {
		t.Errorf("%d modules, want at least 40", len(all))
	}
	std := standard(t, all)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			if !kindLine.MatchString(m.head) || strings.Index(m.head, "Kind:") < 20 {
				t.Errorf("its head does not say what is wrong, and of which kind:\n%s", m.head)
			}
			lines := 0
			for _, text := range m.files {
				lines += strings.Count(text, "\n")
			}
			if lines < 60 || lines > 250 {
				t.Errorf("it has %d lines, want 60 to 250", lines)
			}
			if len(m.right) != 1 {
				t.Errorf("the fault is in %d files, want 1", len(m.right))
			}
			for name, text := range m.right {
				if given, ok := m.files[name]; !ok || given == text || strings.HasSuffix(name, "_test.go") {
					t.Errorf("right/%s fixes nothing", name)
				}
			}
			err := compile(std, m.files)
			if breaks := strings.Contains(m.head, "build failure"); breaks != (err != nil) {
				t.Errorf("with the fault: %v", err)
			}
			if err := compile(std, m.fixed()); err != nil {
				t.Errorf("without the fault: %v", err)
			}
		})
	}
}

// The tests of every module fail with the fault and pass without.
func TestCorpusRuns(t *testing.T) {
	if !proof() {
		t.Skip("set PAWL_PROOF to run every module twice")
	}
	needGo(t)
	for _, m := range corpus(t) {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, m.files)
			if out, err := tests(t, dir); err == nil {
				t.Errorf("its tests pass with the fault:\n%s", out)
			}
			write(t, dir, m.right)
			if out, err := tests(t, dir); err != nil {
				t.Errorf("its tests fail without the fault: %v\n%s", err, out)
			}
		})
	}
}

// sources parses the Go files of a module by directory.
func sources(fset *token.FileSet, files map[string]string) (map[string][]*ast.File, error) {
	dirs := map[string][]*ast.File{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, files[name], 0)
		if err != nil {
			return nil, err
		}
		dirs[path.Dir(name)] = append(dirs[path.Dir(name)], f)
	}
	return dirs, nil
}

// standard imports what the modules use of the standard library, as the go
// command has compiled it.
func standard(t *testing.T, all []module) types.Importer {
	t.Helper()
	used := map[string]bool{}
	for _, m := range all {
		dirs, err := sources(token.NewFileSet(), m.fixed())
		if err != nil {
			t.Fatal(err)
		}
		for _, files := range dirs {
			for _, f := range files {
				for _, s := range f.Imports {
					if p, _ := strconv.Unquote(s.Path.Value); !strings.Contains(p, ".") {
						used[p] = true
					}
				}
			}
		}
	}
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Keys(used))...)
	cmd := exec.Command("go", args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &complaint)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[p] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(p string) (io.ReadCloser, error) {
		if exports[p] == "" {
			return nil, errors.New("a module of the corpus may use the standard library only, not " + p)
		}
		return os.Open(exports[p])
	})
}

// local imports the packages of a module from their sources.
type local struct {
	std    types.Importer
	fset   *token.FileSet
	module string
	dirs   map[string][]*ast.File
	done   map[string]*types.Package
}

func (l *local) Import(p string) (*types.Package, error) {
	dir, ok := strings.CutPrefix(p, l.module)
	if !ok {
		return l.std.Import(p)
	}
	if pkg, ok := l.done[p]; ok {
		return pkg, nil
	}
	dir = path.Join(".", strings.TrimPrefix(dir, "/"))
	var files []*ast.File
	for _, f := range l.dirs[dir] {
		if !strings.HasSuffix(l.fset.Position(f.Package).Filename, "_test.go") {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no package " + p)
	}
	pkg, err := l.check(p, files)
	l.done[p] = pkg
	return pkg, err
}

func (l *local) check(p string, files []*ast.File) (*types.Package, error) {
	return (&types.Config{Importer: l}).Check(p, l.fset, files, nil)
}

// compile checks the types of a module, its tests included.
func compile(std types.Importer, files map[string]string) error {
	match := moduleLine.FindStringSubmatch(files["go.mod"])
	if match == nil {
		return errors.New("its go.mod names no module")
	}
	fset := token.NewFileSet()
	dirs, err := sources(fset, files)
	if err != nil {
		return err
	}
	l := &local{std: std, fset: fset, module: match[1], dirs: dirs, done: map[string]*types.Package{}}
	tested := false
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		p := path.Join(l.module, dir)
		var inside, outside []*ast.File
		for _, f := range dirs[dir] {
			tested = tested || strings.HasSuffix(fset.Position(f.Package).Filename, "_test.go")
			if strings.HasSuffix(f.Name.Name, "_test") {
				outside = append(outside, f)
			} else {
				inside = append(inside, f)
			}
		}
		if _, err := l.check(p, inside); err != nil {
			return err
		}
		if len(outside) > 0 {
			if _, err := l.check(p+"_test", outside); err != nil {
				return err
			}
		}
	}
	if !tested {
		return errors.New("it has no tests")
	}
	return nil
}
