package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// graph says which declaration uses which.
//
// Uses are resolved by go/types over the module's own packages, with every
// other package replaced by an empty one and all errors ignored. That costs
// milliseconds, where importing the standard library from source costs
// seconds, and finds every use within the module, methods included. Where a
// type comes from outside and the checker gives up, a method is taken for any
// of the module's of the same name.
type graph struct {
	*module
	info    *types.Info
	decls   []*decl
	byPos   map[token.Pos]*decl // by the position of a declared name
	methods map[string][]*decl  // by name
	members map[string][]*decl  // methods by directory and receiver
}

// decl is a top-level declaration: a function, a type, or one line of a var or
// const block.
type decl struct {
	file *file
	node ast.Node // *ast.FuncDecl, *ast.ValueSpec or *ast.TypeSpec
	name string
	recv string // a method's receiver's type
	uses []use
}

type use struct {
	of   *decl
	pos  token.Pos
	cost float64
}

func newGraph(m *module) *graph {
	g := &graph{
		module: m,
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Uses:  map[*ast.Ident]types.Object{},
		},
		byPos:   map[token.Pos]*decl{},
		methods: map[string][]*decl{},
		members: map[string][]*decl{},
	}
	g.declare()
	c := &checker{g: g, done: map[string]*types.Package{}}
	for _, f := range m.files {
		c.checkDir(path.Dir(f.path))
	}
	for _, d := range g.decls {
		g.link(d)
	}
	return g
}

func (g *graph) declare() {
	for _, f := range g.files {
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				n := &decl{file: f, node: d, name: d.Name.Name, recv: receiver(d)}
				g.add(n, d.Name)
				if n.recv != "" {
					g.methods[n.name] = append(g.methods[n.name], n)
					key := path.Dir(f.path) + "." + n.recv
					g.members[key] = append(g.members[key], n)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						g.add(&decl{file: f, node: s, name: s.Names[0].Name}, s.Names...)
					case *ast.TypeSpec:
						g.add(&decl{file: f, node: s, name: s.Name.Name}, s.Name)
					}
				}
			}
		}
	}
}

func (g *graph) add(d *decl, names ...*ast.Ident) {
	g.decls = append(g.decls, d)
	for _, n := range names {
		g.byPos[n.Pos()] = d
	}
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// link finds what d uses. A type leads to its methods, since a caller outside
// the module may call them through an interface (sort.Interface, fmt.Stringer).
func (g *graph) link(d *decl) {
	if t, ok := d.node.(*ast.TypeSpec); ok {
		for _, m := range g.members[path.Dir(d.file.path)+"."+t.Name.Name] {
			d.uses = append(d.uses, use{m, t.Pos(), 1})
		}
	}
	unresolved := map[*ast.Ident]bool{}
	ast.Inspect(d.node, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			unresolved[sel.Sel] = true
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if to := g.declared(id); to != nil {
			cost := 1.0
			if _, isFunc := to.node.(*ast.FuncDecl); !isFunc {
				cost = 0.5 // reading a table or a constant is no call
			}
			d.uses = append(d.uses, use{to, id.Pos(), cost})
		} else if unresolved[id] && g.mayBeMethod(id) {
			for _, to := range g.methods[id.Name] {
				d.uses = append(d.uses, use{to, id.Pos(), 1.5})
			}
		}
		return true
	})
}

func (g *graph) declared(id *ast.Ident) *decl {
	switch o := g.info.Uses[id].(type) {
	case nil:
		return nil
	case *types.Func:
		return g.byPos[o.Origin().Pos()]
	case *types.Var:
		return g.byPos[o.Origin().Pos()]
	default:
		return g.byPos[o.Pos()]
	}
}

// mayBeMethod tells whether a selected name that is not declared in the module
// may still end up in one of its methods: it was not resolved, or it is a
// method of an interface.
func (g *graph) mayBeMethod(id *ast.Ident) bool {
	switch o := g.info.Uses[id].(type) {
	case nil:
		return true
	case *types.Func:
		recv := o.Signature().Recv()
		return recv != nil && types.IsInterface(recv.Type())
	default:
		return false
	}
}

// checker type-checks the module's packages, each once without its tests, to
// be imported, and once with them.
type checker struct {
	g    *graph
	done map[string]*types.Package // by directory; nil while being checked
	full map[string]bool
}

func (c *checker) checkDir(dir string) {
	if c.full[dir] {
		return
	}
	if c.full == nil {
		c.full = map[string]bool{}
	}
	c.full[dir] = true
	c.importable(dir)
	var inside, outside []*ast.File
	tests := false
	for _, f := range c.g.dirs[dir] {
		switch {
		case f.test && strings.HasSuffix(f.ast.Name.Name, "_test"):
			outside = append(outside, f.ast)
		default:
			inside = append(inside, f.ast)
			tests = tests || f.test
		}
	}
	if tests {
		c.check(dir, inside)
	}
	if len(outside) > 0 {
		c.check(dir+"_test", outside)
	}
}

func (c *checker) importable(dir string) *types.Package {
	if p, ok := c.done[dir]; ok {
		return p
	}
	c.done[dir] = nil
	var files []*ast.File
	for _, f := range c.g.dirs[dir] {
		if !f.test {
			files = append(files, f.ast)
		}
	}
	c.done[dir] = c.check(dir, files)
	return c.done[dir]
}

func (c *checker) check(dir string, files []*ast.File) *types.Package {
	conf := types.Config{
		Importer:                 c,
		Error:                    func(error) {},
		FakeImportC:              true,
		DisableUnusedImportCheck: true,
	}
	p, _ := conf.Check(path.Join(c.g.path, dir), c.g.fset, files, c.g.info)
	return p
}

// Import returns a package of the module, or an empty one.
func (c *checker) Import(p string) (*types.Package, error) {
	if dir, ok := c.g.dirOf(p); ok && (c.g.path != "" || dir != ".") {
		if pkg := c.importable(dir); pkg != nil {
			return pkg, nil
		}
	}
	parts := strings.Split(p, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 && len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = parts[len(parts)-2]
	}
	empty := types.NewPackage(p, name)
	empty.MarkComplete()
	return empty, nil
}
