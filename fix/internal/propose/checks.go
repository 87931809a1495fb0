package propose

import (
	"go/ast"
	"go/token"
	"go/types"
)

var errorType = types.Universe.Lookup("error").Type()

// isError reports whether an expression is an error.
func (s *search) isError(e ast.Expr) bool {
	t := s.pkg.info.TypeOf(e)
	return t != nil && types.Identical(t, errorType)
}

// failing reports whether the function around the present node returns an error last.
func (s *search) failing() bool {
	list := s.results()
	return len(list) > 0 && s.isError(list[len(list)-1].Type)
}

// ifError proposes to return an error that is only noticed.
func (s *search) ifError(n *ast.IfStmt) {
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !s.isError(cond.X) || !s.failing() {
		return
	}
	if list := n.Body.List; len(list) > 0 {
		switch list[len(list)-1].(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			return
		}
	}
	s.add(errorReturn, n.Body.Rbrace, n.Body.Rbrace, s.leave(s.text(cond.X))+"\n")
}

// returns proposes an error of the function in place of none, and none in place of one.
func (s *search) returns(n *ast.ReturnStmt) {
	if len(n.Results) == 0 || !s.failing() {
		return
	}
	last := n.Results[len(n.Results)-1]
	id, ok := last.(*ast.Ident)
	if !ok {
		return
	}
	if id.Name != "nil" {
		s.replace(errorReturn, last, "nil")
		return
	}
	for scope := s.pkg.types.Scope().Innermost(n.Pos()); scope != nil && scope != s.pkg.types.Scope(); scope = scope.Parent() {
		for _, other := range scope.Names() {
			if v, ok := scope.Lookup(other).(*types.Var); ok && v.Pos() < n.Pos() && types.Identical(v.Type(), errorType) {
				s.replace(errorReturn, last, other)
			}
		}
	}
}

// unchecked proposes to return the error of a call that nobody looks at.
func (s *search) unchecked(n *ast.ExprStmt) {
	if call, ok := n.X.(*ast.CallExpr); ok && s.isError(call) && s.failing() {
		s.replace(errorReturn, n, "if err := "+s.text(call)+"; err != nil {\n"+s.leave("err")+"\n}")
	}
}

// dereference proposes to leave the function where a pointer is nil.
func (s *search) dereference(x ast.Expr) {
	if s.pkg.info.Types[x].IsType() {
		return
	}
	switch s.under(x).(type) {
	case *types.Pointer, *types.Interface:
		s.guard(nilCheck, s.text(x)+" == nil")
	}
}

// index proposes a neighbour of an index, and to leave the function where there is no such element.
func (s *search) index(n *ast.IndexExpr) {
	if !s.ordered(n.X) {
		return
	}
	s.offByOne(n.Index)
	x, i := s.text(n.X), s.text(n.Index)
	if s.pkg.info.Types[n.Index].Value == nil {
		s.guard(lengthCheck, i+" < 0 || "+i+" >= len("+x+")")
	} else {
		s.guard(lengthCheck, "len("+x+") == 0")
	}
}

// slice proposes neighbours of its bounds, and to keep a bound within the length.
func (s *search) slice(n *ast.SliceExpr) {
	for _, at := range []ast.Expr{n.Low, n.High} {
		if at == nil || !s.ordered(n.X) {
			continue
		}
		s.offByOne(at)
		if s.pkg.info.Types[at].Value == nil {
			s.replace(lengthCheck, at, "min("+s.text(at)+", len("+s.text(n.X)+"))")
		}
	}
}

// ordered reports whether an expression has elements that are counted.
func (s *search) ordered(x ast.Expr) bool {
	switch s.under(x).(type) {
	case *types.Slice, *types.Array:
		return true
	}
	return s.is(x, types.IsString)
}

// under returns the underlying type of an expression; nil: it is not known.
func (s *search) under(e ast.Expr) types.Type {
	if t := s.pkg.info.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}
