package mechanic

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/typo"
)

// known are packages of the standard library by the name that code gives them,
// those first that are imported most.
var known = map[string][]string{
	"bufio": {"bufio"}, "bytes": {"bytes"}, "cmp": {"cmp"}, "context": {"context"}, "errors": {"errors"}, "fmt": {"fmt"},
	"io": {"io"}, "fs": {"io/fs"}, "iter": {"iter"}, "maps": {"maps"}, "math": {"math"}, "bits": {"math/bits"}, "big": {"math/big"},
	"rand": {"math/rand/v2", "math/rand", "crypto/rand"}, "os": {"os"}, "path": {"path"}, "filepath": {"path/filepath"},
	"reflect": {"reflect"}, "regexp": {"regexp"}, "runtime": {"runtime"}, "slices": {"slices"}, "sort": {"sort"},
	"strconv": {"strconv"}, "strings": {"strings"}, "sync": {"sync"}, "atomic": {"sync/atomic"}, "time": {"time"},
	"unicode": {"unicode"}, "utf8": {"unicode/utf8"}, "json": {"encoding/json"}, "hex": {"encoding/hex"}, "base64": {"encoding/base64"},
	"binary": {"encoding/binary"}, "csv": {"encoding/csv"}, "heap": {"container/heap"}, "list": {"container/list"}, "ring": {"container/ring"},
	"sha256": {"crypto/sha256"}, "md5": {"crypto/md5"}, "crc32": {"hash/crc32"}, "fnv": {"hash/fnv"}, "http": {"net/http"}, "url": {"net/url"},
	"template": {"text/template", "html/template"}, "tabwriter": {"text/tabwriter"}, "log": {"log"}, "slog": {"log/slog"}, "flag": {"flag"},
}

// mostAlike is how many names are proposed for one that is not known.
const mostAlike = 5

// alike lists the names in a file's package and around it that look like one.
func (b *builder) alike(file, name string) []string {
	found := map[string]bool{}
	for p, text := range b.files {
		if !strings.HasSuffix(p, ".go") {
			continue
		}
		near := path.Dir(p) == path.Dir(file)
		f, _ := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
		if f == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != name && (near || id.IsExported()) {
				found[id.Name] = true
			}
			return true
		})
	}
	return closest(name, slices.Sorted(maps.Keys(found)))
}

// closest picks the names that differ little from one, nearest first.
func closest(name string, names []string) []string {
	type near struct {
		name string
		dist int
	}
	var list []near
	for _, n := range names {
		d := typo.Distance(strings.ToLower(name), strings.ToLower(n))
		if n != name && n != "_" && d <= max(1, len(name)/3) {
			list = append(list, near{n, d})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(a.dist, b.dist) })
	var out []string
	for _, n := range list[:min(len(list), mostAlike)] {
		out = append(out, n.name)
	}
	return out
}

// rename renames a declaration.
func (b *builder) rename(file, from, to string) {
	for _, p := range slices.Sorted(maps.Keys(b.files)) {
		if path.Dir(p) != path.Dir(file) || !strings.HasSuffix(p, ".go") {
			continue
		}
		text := b.files[p]
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		declared := func(ids ...*ast.Ident) {
			for _, id := range ids {
				if id.Name == from {
					at := fset.Position(id.Pos()).Offset
					b.add(p, text[:at]+to+text[at+len(from):], fmt.Sprintf("declared as %s → %s", from, to))
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared(n.Name)
			case *ast.TypeSpec:
				declared(n.Name)
			case *ast.ValueSpec:
				declared(n.Names...)
			case *ast.Field:
				declared(n.Names...)
			}
			return true
		})
	}
}

// missingReturn ends a function with a return of values in scope.
func (b *builder) missingReturn(c complaint, _ []string) {
	at, text := b.at(c), b.files[c.file]
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, c.file, text, parser.SkipObjectResolution)
	if err != nil || at < 0 {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var kind *ast.FuncType
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			kind, body = n.Type, n.Body
		case *ast.FuncLit:
			kind, body = n.Type, n.Body
		}
		if body == nil || kind.Results == nil || fset.Position(body.Rbrace).Offset != at {
			return true
		}
		start := strings.LastIndexByte(text[:at], '\n') + 1
		indent := text[start:at]
		if strings.TrimSpace(indent) != "" {
			return true
		}
		for _, what := range returns(kind, body, text) {
			b.add(c.file, text[:start]+indent+"\treturn"+what+"\n"+text[start:], "return"+what)
		}
		return true
	})
}

// returns lists what a function may return at its end: its variables, last first, and zeros.
func returns(kind *ast.FuncType, body *ast.BlockStmt, text string) []string {
	var zeros []string
	for _, r := range kind.Results.List {
		if len(r.Names) > 0 {
			return []string{""}
		}
		t := text[r.Type.Pos()-1 : r.Type.End()-1]
		switch {
		case t == "string":
			zeros = append(zeros, `""`)
		case t == "bool":
			zeros = append(zeros, "false")
		case strings.HasPrefix(t, "int") || strings.HasPrefix(t, "uint") || strings.HasPrefix(t, "float") || t == "byte" || t == "rune":
			zeros = append(zeros, "0")
		case strings.HasPrefix(t, "*") || strings.HasPrefix(t, "[]") || strings.HasPrefix(t, "map[") || t == "error" || t == "any" || strings.HasPrefix(t, "func"):
			zeros = append(zeros, "nil")
		default:
			zeros = append(zeros, t+"{}")
		}
	}
	var names []string
	for _, s := range slices.Backward(body.List) {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, x := range s.Lhs {
				if id, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
					names = append(names, id.Name)
				}
			}
		case *ast.DeclStmt:
			if g, ok := s.Decl.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						names = append(names, v.Names[0].Name)
					}
				}
			}
		}
	}
	for _, p := range kind.Params.List {
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
	}
	var rest strings.Builder
	for _, z := range zeros[1:] {
		rest.WriteString(", " + z)
	}
	var out []string
	for _, n := range names {
		out = append(out, " "+n+rest.String())
	}
	out = append(out, " "+strings.Join(zeros, ", "))
	if zeros[0] == "false" {
		out = append(out, " true"+rest.String())
	}
	return out
}

// results makes a return have as many values as the function.
func (b *builder) results(c complaint, m []string) {
	want := strings.Split(m[1], ", ")
	at, text := b.at(c), b.files[c.file]
	if at < 0 {
		return
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	if i := strings.Index(line, "return"); i > 0 {
		line = line[i:]
	} else if i < 0 { // it points at the values
		start := strings.LastIndexByte(text[:at], '\n') + 1
		i := strings.Index(text[start:at], "return")
		if i < 0 {
			return
		}
		at = start + i
		line, _, _ = strings.Cut(text[at:], "\n")
	}
	values := strings.TrimSpace(strings.TrimPrefix(line, "return"))
	end := at + len(line)
	if last := want[len(want)-1]; last == "error" || strings.HasPrefix(last, "*") || strings.HasPrefix(last, "[]") || strings.HasPrefix(last, "map[") {
		b.add(c.file, text[:end]+", nil"+text[end:], "return also nil")
	}
	for _, more := range []string{", true", ", false", ", 0", `, ""`} {
		b.add(c.file, text[:end]+more+text[end:], "return also"+more[1:])
	}
	if i := strings.LastIndex(values, ", "); i >= 0 {
		less := strings.TrimSuffix(line, values[i:])
		b.add(c.file, text[:at]+less+text[end:], "return one value less")
	}
}
