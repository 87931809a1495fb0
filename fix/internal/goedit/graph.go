package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
)

// graph says which declaration uses which.
//
// Uses are resolved by go/types over the module's own packages, all errors
// ignored. Without an importer every other package is replaced by an empty one.
// That costs milliseconds, where importing the standard library from source
// costs seconds, and finds every use within the module, methods included. Where
// a type comes from outside and the checker gives up, a method is taken for any
// of the module's of the same name.
type graph struct {
	*module
	*checker
	info    *types.Info
	tests   *types.Info // type information of test files
	decls   []*decl
	byPos   map[token.Pos]*decl     // by the position of a declared name
	methods map[string][]*decl      // by name
	members map[string][]*decl      // methods by directory and receiver
	larder  map[string]*ingredients // by directory; made when asked for
	shown   map[string]*traces      // by directory; made when asked for
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

func newGraph(m *module, outside types.Importer) *graph {
	g := &graph{
		module:  m,
		info:    newInfo(),
		tests:   newInfo(),
		byPos:   map[token.Pos]*decl{},
		methods: map[string][]*decl{},
		members: map[string][]*decl{},
		larder:  map[string]*ingredients{},
		shown:   map[string]*traces{},
	}
	g.checker = newChecker(g, outside)
	g.declare()
	for _, f := range m.files {
		g.checkDir(path.Dir(f.path))
	}
	for _, d := range g.decls {
		g.link(d)
	}
	return g
}

func newInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Implicits:  map[ast.Node]types.Object{},
	}
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
				cost = 0.5 // reading a table or a constant is not a call
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
	switch o := g.used(id).(type) {
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

// used returns the object that a name refers to.
func (g *graph) used(id *ast.Ident) types.Object {
	if o := g.info.Uses[id]; o != nil {
		return o
	}
	return g.tests.Uses[id]
}

// mayBeMethod reports whether a selected name that is not declared in the module may still
// refer to one of its methods: it was not resolved, or it is a method of an interface.
func (g *graph) mayBeMethod(id *ast.Ident) bool {
	switch o := g.used(id).(type) {
	case nil:
		return true
	case *types.Func:
		recv := o.Signature().Recv()
		return recv != nil && types.IsInterface(recv.Type())
	default:
		return false
	}
}
