package propose

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

var errorType = types.Universe.Lookup("error").Type()

// isError reports whether an expression is an error.
func (s *search) isError(e ast.Expr) bool {
	t := s.pkg.info.TypeOf(e)
	return t != nil && types.Identical(t, errorType)
}

// failing reports whether the function around the present node returns an error last.
func (s *search) failing() bool {
	f, _ := s.function()
	return f != nil && f.Results != nil && len(f.Results.List) > 0 && s.isError(f.Results.List[len(f.Results.List)-1].Type)
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

// checkLater proposes to return an error that the next statement does not look at.
func (s *search) checkLater(n *ast.AssignStmt) {
	err, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
	if !ok || !s.failing() {
		return
	}
	if err.Name == "_" {
		if call, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Lhs) == 1 && s.isError(call) {
			s.replace(errorReturn, n, "if err := "+s.text(call)+"; err != nil {\n"+s.leave("err")+"\n}")
		}
		return
	}
	block, ok := s.stack[len(s.stack)-2].(*ast.BlockStmt)
	if !ok || !s.isError(err) {
		return
	}
	if i := slices.Index(block.List, ast.Stmt(n)) + 1; i < len(block.List) && s.mentions(block.List[i], err.Name) {
		return
	}
	s.add(errorReturn, n.End(), n.End(), "\nif "+err.Name+" != nil {\n"+s.leave(err.Name)+"\n}")
}

func (s *search) mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// unchecked proposes to return the error of a call that nobody looks at.
func (s *search) unchecked(n *ast.ExprStmt) {
	if call, ok := n.X.(*ast.CallExpr); ok && s.isError(call) && s.failing() {
		s.replace(errorReturn, n, "if err := "+s.text(call)+"; err != nil {\n"+s.leave("err")+"\n}")
	}
}

// dereference proposes to leave the function where a pointer is nil.
func (s *search) dereference(x ast.Expr) {
	t := s.pkg.info.TypeOf(x)
	if t == nil || s.pkg.info.Types[x].IsType() {
		return
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		s.before(nilCheck, "if "+s.text(x)+" == nil {\n"+s.leave("")+"\n}")
	}
}

// index proposes a neighbour of an index, and to leave the function where there is no such element.
func (s *search) index(n *ast.IndexExpr) {
	if !s.ordered(n.X) {
		return
	}
	s.offByOne(n.Index)
	x, i := s.text(n.X), s.text(n.Index)
	if s.mentions(n.Index, "len") || s.pkg.info.Types[n.Index].Value != nil {
		s.before(lengthCheck, "if len("+x+") == 0 {\n"+s.leave("")+"\n}")
	}
	if s.pkg.info.Types[n.Index].Value == nil {
		s.before(lengthCheck, "if "+i+" < 0 || "+i+" >= len("+x+") {\n"+s.leave("")+"\n}")
	}
}

// slice proposes neighbours of its bounds, and to keep a bound within the length.
func (s *search) slice(n *ast.SliceExpr) {
	if !s.ordered(n.X) {
		return
	}
	for _, at := range []ast.Expr{n.Low, n.High} {
		if at == nil {
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
	t := s.pkg.info.TypeOf(x)
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	}
	return false
}
