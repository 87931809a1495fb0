package propose

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// others are the operators and words that are tried in place of one.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GTR, token.GEQ}, token.LEQ: {token.LSS, token.GEQ, token.GTR},
	token.GTR: {token.GEQ, token.LSS, token.LEQ}, token.GEQ: {token.GTR, token.LEQ, token.LSS},
	token.EQL: {token.NEQ, token.GEQ, token.LEQ}, token.NEQ: {token.EQL, token.GTR, token.LSS},
	token.ADD: {token.SUB, token.MUL}, token.SUB: {token.ADD}, token.MUL: {token.ADD, token.QUO},
	token.QUO: {token.MUL, token.REM}, token.REM: {token.QUO}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.AND: {token.OR}, token.OR: {token.AND, token.XOR}, token.XOR: {token.OR}, token.AND_NOT: {token.AND},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.INC: {token.DEC}, token.DEC: {token.INC}, token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
	token.ADD_ASSIGN: {token.SUB_ASSIGN, token.MUL_ASSIGN, token.ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN, token.ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN, token.ADD_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN}, token.ASSIGN: {token.ADD_ASSIGN},
}

func (s *search) otherToken(kind int, at token.Pos, tok token.Token) {
	for _, o := range others[tok] {
		s.add(kind, at, at+token.Pos(len(tok.String())), o.String())
	}
}

func (s *search) binary(n *ast.BinaryExpr) {
	number, whole := s.is(n.X, types.IsNumeric), s.is(n.X, types.IsInteger)
	y := s.text(n.Y)
	switch n.Op {
	case token.LAND, token.LOR:
		s.otherToken(condition, n.OpPos, n.Op)
		s.replace(condition, n, s.text(n.X))
		s.replace(condition, n, y)
	case token.EQL, token.NEQ:
		if number {
			s.otherToken(comparison, n.OpPos, n.Op)
		} else if !s.isError(n.X) {
			s.add(comparison, n.OpPos, n.OpPos+2, others[n.Op][0].String())
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		s.otherToken(comparison, n.OpPos, n.Op)
		if whole {
			s.offByOne(n.Y)
		}
	default:
		if number {
			s.otherToken(operator, n.OpPos, n.Op)
		}
		if n.Op != token.MUL && n.Op != token.ADD || !number {
			s.replace(operands, n, s.operand(n.Y)+" "+n.Op.String()+" "+s.operand(n.X))
		}
		if besideOne(n) {
			s.replace(bound, n, s.text(n.X))
		}
		if whole && (n.Op == token.QUO || n.Op == token.REM) && s.pkg.info.Types[n.Y].Value == nil {
			s.guard(lengthCheck, y+" == 0")
		}
	}
}

// besideOne reports whether an expression is one more or less than another.
func besideOne(n *ast.BinaryExpr) bool {
	one, ok := n.Y.(*ast.BasicLit)
	return ok && one.Value == "1" && (n.Op == token.ADD || n.Op == token.SUB)
}

// operand is an expression as it stands beside another operator.
func (s *search) operand(e ast.Expr) string {
	if _, ok := e.(*ast.BinaryExpr); ok {
		return "(" + s.text(e) + ")"
	}
	return s.text(e)
}

// offByOne proposes one more and one less than an integer.
func (s *search) offByOne(e ast.Expr) {
	if _, ok := e.(*ast.BasicLit); ok || e == nil || !s.is(e, types.IsInteger) {
		return // a literal is changed itself
	}
	if b, ok := e.(*ast.BinaryExpr); ok && besideOne(b) {
		return // so is one more or less
	}
	s.add(bound, e.End(), e.End(), "+1")
	s.add(bound, e.End(), e.End(), "-1")
}

// negate proposes the opposite of a condition that no other operator gives.
func (s *search) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case *ast.UnaryExpr:
		return
	case *ast.BinaryExpr:
		if c.Op != token.LAND && c.Op != token.LOR {
			return
		}
	}
	s.replace(condition, cond, "!("+s.text(cond)+")")
}

func (s *search) literal(n *ast.BasicLit) {
	v, err := strconv.Atoi(n.Value)
	if err != nil || n.Kind != token.INT {
		return
	}
	for _, other := range []int{v + 1, v - 1, 0} {
		if other >= 0 {
			s.replace(literal, n, strconv.Itoa(other))
		}
	}
}

// call proposes two arguments of the same type the other way round.
func (s *search) call(n *ast.CallExpr) {
	for i, a := range n.Args {
		for _, b := range n.Args[i+1:] {
			if x, y := s.pkg.info.TypeOf(a), s.pkg.info.TypeOf(b); x == nil || y == nil || !types.Identical(x, y) {
				continue
			}
			between := string(s.file.text[s.offset(a.End()):s.offset(b.Pos())])
			s.add(arguments, a.Pos(), b.End(), s.text(b)+between+s.text(a))
		}
	}
}

// is reports whether an expression has a basic type with a property.
func (s *search) is(e ast.Expr, what types.BasicInfo) bool {
	basic, ok := s.under(e).(*types.Basic)
	return ok && basic.Info()&what != 0
}
