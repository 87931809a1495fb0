package goedit

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// importChange is an import that an edit needs, or that it leaves without a use.
type importChange struct {
	path string
	add  bool
}

// lend makes the packages that other files of the package import known in a file, so that
// edits may take code from there. An edit that uses one adds its import.
func (g *graph) lend(f *file) {
	pkg := g.pkgs[f.dir()]
	if f.lent != nil || g.outside == nil || pkg == nil || !f.built {
		return
	}
	f.lent = []*types.PkgName{}
	scope := pkg.Scope().Innermost(f.ast.Package)
	if scope == nil || scope.Parent() != pkg.Scope() {
		return
	}
	for _, other := range g.dirs[f.dir()] {
		if other == f || other.test || !other.built {
			continue
		}
		for _, spec := range other.ast.Imports {
			if spec.Name != nil {
				continue // a name that would have to be imported with it
			}
			name, ok := g.info.Implicits[spec].(*types.PkgName)
			if !ok || name.Imported().Name() != name.Name() || pkg.Scope().Lookup(name.Name()) != nil || f.importsPath(name.Imported().Path()) {
				continue
			}
			lent := types.NewPkgName(token.NoPos, pkg, name.Name(), name.Imported())
			if scope.Insert(lent) == nil {
				f.lent = append(f.lent, lent)
			}
		}
	}
}

func (f *file) importsPath(p string) bool {
	return slices.ContainsFunc(f.ast.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(p) })
}

// importsAfter returns the imports of a file that change with one of its functions: those that
// the function uses now and the file lacks, and those that nothing uses any more.
func (c *checker) importsAfter(f *file, d *decl, now *types.Info) []importChange {
	var list []importChange
	used := map[types.Object]bool{}
	for _, o := range now.Uses {
		if p, ok := o.(*types.PkgName); ok {
			used[p] = true
		}
	}
	for _, p := range f.lent {
		if used[p] {
			list = append(list, importChange{p.Imported().Path(), true})
		}
	}
	if f.imports == nil {
		f.imports = map[*decl][]*types.PkgName{}
		for _, other := range c.g.decls {
			if other.file != f {
				continue
			}
			ast.Inspect(other.node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if p, ok := c.g.info.Uses[id].(*types.PkgName); ok {
						f.imports[other] = append(f.imports[other], p)
					}
				}
				return true
			})
		}
	}
	for _, p := range f.imports[d] {
		kept := used[p]
		for other, names := range f.imports {
			kept = kept || other != d && slices.Contains(names, p)
		}
		if gone := (importChange{p.Imported().Path(), false}); !kept && !slices.Contains(list, gone) {
			list = append(list, gone)
		}
	}
	return list
}

// importPieces returns the replacements that change the imports of a file as an edit needs it;
// false if that cannot be said as replacements of texts that occur once.
func importPieces(f *file, e Edit, changes []importChange) ([]Piece, bool) {
	after := f.src
	for _, c := range changes {
		var ok bool
		if after, ok = withImport(f, after, c); !ok {
			return nil, false
		}
	}
	if f.formatted {
		text, err := format.Source(after)
		if err != nil {
			return nil, false
		}
		after = text
	}
	p := Piece{}
	p.Old, p.New = narrow(string(f.src), string(after), 1)
	at, edited := bytes.Index(f.src, []byte(p.Old)), bytes.Index(f.src, []byte(e.Old))
	apart := at+len(p.Old) <= edited || edited+len(e.Old) <= at
	text := strings.Replace(string(f.src), e.Old, e.New, 1)
	return []Piece{p}, apart && occurrences(text, p.Old) == 1
}

// withImport returns a text of a file with one import more or less.
func withImport(f *file, src []byte, c importChange) ([]byte, bool) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path.Base(f.path), src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, false
	}
	at := func(p token.Pos) int { return fset.PositionFor(p, false).Offset }
	if c.add {
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Lparen.IsValid() && len(g.Specs) > 0 {
				i := at(g.Specs[0].Pos())
				return slices.Concat(src[:i], []byte(strconv.Quote(c.path)+"\n\t"), src[i:]), true
			}
		}
		text := "\n\nimport " + strconv.Quote(c.path)
		i := at(parsed.Name.End())
		if len(parsed.Decls) > 0 {
			i, text = at(parsed.Decls[len(parsed.Decls)-1].End()), text[1:]
		}
		return slices.Concat(src[:i], []byte(text), src[i:]), true
	}
	for _, d := range parsed.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if i, ok := s.(*ast.ImportSpec); ok && i.Path.Value == strconv.Quote(c.path) {
				var n ast.Node = i
				if len(g.Specs) == 1 {
					n = g
				}
				from, end := bytes.LastIndexByte(src[:at(n.Pos())], '\n')+1, at(n.End())
				if more := bytes.IndexByte(src[end:], '\n'); more >= 0 {
					end += more + 1
				}
				if n == g {
					for end < len(src) && src[end] == '\n' {
						end++
					}
				}
				return slices.Concat(src[:from], src[end:]), true
			}
		}
	}
	return nil, false
}
