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
