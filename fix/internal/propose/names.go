package propose

import (
	"go/ast"
	"go/types"
	"strings"
)

// mostNames is how many other names are proposed for one.
const mostNames = 6

// ident proposes the other names of the same type that can stand in place of one, the nearest first.
func (s *search) ident(n *ast.Ident) {
	if sel, ok := s.stack[len(s.stack)-2].(*ast.SelectorExpr); ok && sel.Sel == n {
		return
	}
	obj := s.pkg.info.Uses[n]
	unknown := obj == nil && s.pkg.info.Defs[n] == nil && n.Name != "_" // it does not compile
	switch {
	case obj == types.Universe.Lookup("true"):
		s.replace(literal, n, "false")
	case obj == types.Universe.Lookup("false"):
		s.replace(literal, n, "true")
	}
	if !unknown && (!named(obj) || obj.Parent() == nil || obj.Pkg() != s.pkg.types) {
		return
	}
	inner := s.pkg.types.Scope().Innermost(n.Pos())
	left := mostNames
	for scope := inner; scope != nil && scope != types.Universe && left > 0; scope = scope.Parent() {
		for _, other := range scope.Names() {
			o := scope.Lookup(other)
			if _, seen := inner.LookupParent(other, n.Pos()); seen != o || !named(o) || !unknown && !alike(obj, o) || left == 0 || other == "_" {
				continue
			}
			s.replace(otherName, n, other)
			left--
		}
	}
}

// selector proposes other fields and methods of the same type, other functions of a package, and a check of
// the pointer.
func (s *search) selector(n *ast.SelectorExpr) {
	obj := s.pkg.info.Uses[n.Sel]
	if !named(obj) {
		return
	}
	var beside []types.Object
	if sel := s.pkg.info.Selections[n]; sel != nil {
		s.dereference(n.X)
		t := sel.Recv()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if st, ok := t.Underlying().(*types.Struct); ok {
			for f := range st.Fields() {
				beside = append(beside, f)
			}
		}
		for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
			beside = append(beside, m.Obj())
		}
	} else if obj.Pkg() != nil {
		for _, other := range obj.Pkg().Scope().Names() {
			if len(other) > 2 && len(n.Sel.Name) > 2 && other[:3] == n.Sel.Name[:3] { // TrimLeft and TrimPrefix
				beside = append(beside, obj.Pkg().Scope().Lookup(other))
			}
		}
	}
	left := mostNames
	for _, o := range beside {
		if left > 0 && alike(obj, o) && (o.Exported() || o.Pkg() == s.pkg.types) {
			s.replace(otherName, n.Sel, o.Name())
			left--
		}
	}
}

// named reports whether a name is of a kind that has others like it.
func named(o types.Object) bool {
	switch o.(type) {
	case *types.Var, *types.Const, *types.Func:
		return true
	}
	return false
}

// alike reports whether a name can stand in place of another.
func alike(was, other types.Object) bool {
	if was == other || other == nil || other.Name() == was.Name() {
		return false
	}
	if f, ok := was.(*types.Func); ok {
		g, ok := other.(*types.Func)
		return ok && types.Identical(bare(f), bare(g)) && other.Name() != "init" && other.Name() != "main"
	}
	if _, ok := other.(*types.Func); ok || !named(other) {
		return false
	}
	return types.Identical(types.Default(was.Type()), types.Default(other.Type()))
}

// bare is the type of a function without its receiver.
func bare(f *types.Func) types.Type {
	sig := f.Signature()
	return types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
}

// qualify names a package as code of the file does.
func (s *search) qualify(p *types.Package) string {
	if p == s.pkg.types {
		return ""
	}
	return p.Name()
}

// leave is a statement that leaves the function around the present node, with the zero values of its results;
// err is the last of them, if it is not empty.
func (s *search) leave(err string) string {
	var values []string
	for _, r := range s.results() {
		for range max(1, len(r.Names)) {
			values = append(values, s.zero(s.pkg.info.TypeOf(r.Type)))
		}
	}
	if len(values) == 0 {
		return "return"
	}
	if err != "" {
		values[len(values)-1] = err
	}
	return "return " + strings.Join(values, ", ")
}

func (s *search) zero(t types.Type) string {
	if t == nil {
		return "nil"
	}
	if _, ok := t.(*types.TypeParam); ok {
		return "*new(" + types.TypeString(t, s.qualify) + ")"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsString != 0:
			return `""`
		}
	case *types.Struct, *types.Array:
		return types.TypeString(t, s.qualify) + "{}"
	}
	return "nil"
}
