package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// mutator collects the sites of one declaration.
type mutator struct {
	g      *graph
	d      *decl
	clues  *clues
	placed map[string]float64   // how often a statement was put somewhere
	reads  map[types.Object]int // how often a variable is named
	sites  []site
}

// mutate returns every change that the rules make to d, in source order. The weights are
// priors for each kind of fault, set by judgement and by the corpus of the tests. Rules that
// depend on types need an importer: without one most of their proposals would not compile.
func mutate(g *graph, d *decl, c *clues) []site {
	m := &mutator{g: g, d: d, clues: c}
	if _, ok := d.node.(*ast.TypeSpec); ok {
		return nil
	}
	ast.PreorderStack(d.node, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n.(type) {
		case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
			return false // nothing that runs; a length is part of the type
		}
		m.plainly(n, stack)
		if g.outside != nil {
			m.typed(n, stack)
			m.statements(n, stack)
		}
		return true
	})
	m.pairs()
	return m.sites
}

// plainly applies the rules that need little more than syntax.
func (m *mutator) plainly(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.operator(n, stack)
	case *ast.UnaryExpr:
		m.unNegate(n)
	case *ast.BasicLit:
		m.constant(n, stack)
	case *ast.IndexExpr:
		m.index(n)
	case *ast.SliceExpr:
		m.slice(n)
	case *ast.CallExpr:
		m.length(n, stack)
	case *ast.IncDecStmt:
		m.incDec(n)
	case *ast.AssignStmt:
		m.assign(n)
	case *ast.Ident:
		m.truth(n, stack)
	case *ast.IfStmt:
		m.negate(n.Cond, 0.6)
	case *ast.CaseClause:
		for _, x := range n.List {
			if m.isBool(x) {
				m.negate(x, 0.4)
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			m.negate(n.Cond, 0.3)
		}
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if m.isBool(r) {
				m.negate(r, 0.45)
			}
		}
	}
}

// typed applies the rules for expressions that go by types.
func (m *mutator) typed(n ast.Node, stack []ast.Node) {
	m.owned(n)
	m.converted(n)
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.operands(n)
		m.grouping(n)
		m.fewerOperands(n, stack)
		m.oneMore(n, stack)
		m.related(n)
		m.equal(n)
		m.halfRange(n, stack)
		if n.Op == token.LAND || n.Op == token.LOR {
			m.fewer(n)
		}
	case *ast.BasicLit:
		m.literal(n)
		m.otherText(n)
		m.otherConstant(n, stack)
		m.named(n, stack)
	case *ast.SliceExpr:
		m.clamped(n.X, n.Low, n.High)
	case *ast.CallExpr:
		m.arguments(n)
		m.conversion(n)
		m.builtin(n)
		for _, x := range n.Args {
			m.wrapped(x)
			m.moved(x, 0.2)
		}
	case *ast.CompositeLit:
		m.forgottenElement(n)
		m.forgottenField(n)
		m.unmade(n)
	case *ast.Ident:
		if s, ok := parent(stack).(*ast.SelectorExpr); ok && s.Sel == n {
			return
		}
		if kv, ok := parent(stack).(*ast.KeyValueExpr); ok && kv.Key == n {
			return
		}
		m.ident(n, stack)
	case *ast.SelectorExpr:
		m.selector(n)
		m.computed(n, stack)
	case *ast.IndexExpr:
		m.wrapped(n.Index)
	}
}

// statements applies the rules for statements.
func (m *mutator) statements(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		m.entry(n, append(stack, n))
	case *ast.AssignStmt:
		m.shadowed(n, stack)
		m.ignored(n, stack)
		if len(n.Lhs) == 1 {
			m.wrapped(n.Rhs[0])
			m.moved(n.Rhs[0], kept(n.Lhs[0]))
			m.moreOperands(n.Rhs[0])
		}
		m.crossNames(n)
	case *ast.IfStmt:
		m.repeated(n)
		m.narrower(n.Cond, stack, leaves(n.Body), 0.3)
		m.jump(n.Body.List, append(stack, n), 0.55)
	case *ast.CaseClause:
		m.jump(n.Body, append(stack, n), 0.22)
		m.oneMoreCase(n)
		for _, x := range n.List {
			if m.isBool(x) {
				m.narrower(x, stack, false, 0.25)
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			m.narrower(n.Cond, stack, false, 0.25)
			m.wholeOf(n)
		}
		m.iteration(n, n.Body, stack)
		m.jump(n.Body.List, append(stack, n), 0.15)
	case *ast.RangeStmt:
		m.pointedAt(n)
		m.iteration(n, n.Body, stack)
		m.jump(n.Body.List, append(stack, n), 0.15)
	case *ast.BranchStmt:
		m.branch(n, stack)
	case *ast.TypeSwitchStmt:
		m.oneMoreType(n)
	case *ast.DeclStmt:
		m.unset(n, stack)
		m.initial(n)
	case *ast.ReturnStmt:
		m.answers(n, stack)
		m.unlocked(n, stack)
		for _, x := range n.Results {
			m.wrapped(x)
			m.moved(x, 0.25)
			m.moreOperands(x)
			if m.isBool(x) {
				m.narrower(x, stack, false, 0.25)
			}
		}
		m.crossNames(n)
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		m.sequence(n.List, append(stack, n))
	case *ast.CaseClause:
		m.sequence(n.Body, append(stack, n))
	case *ast.CommClause:
		m.sequence(n.Body, append(stack, n))
	}
}

// sequence applies the rules for the statements of a block and their order.
func (m *mutator) sequence(list []ast.Stmt, stack []ast.Node) {
	for i, s := range list {
		var next ast.Stmt
		if i+1 < len(list) {
			next = list[i+1]
			m.neighbours(s, next)
		}
		m.forgottenStatement(s, next == nil)
		m.forgottenUse(s)
		m.secondOfTwo(s, list)
		var before ast.Stmt
		if i > 0 {
			before = list[i-1]
		}
		m.sameOfOther(s, before)
		switch s := s.(type) {
		case *ast.AssignStmt:
			m.filled(s)
			if next != nil {
				m.checked(s, next, stack)
			}
		case *ast.ExprStmt:
			m.locked(s, next)
		}
		if isSimple(s) {
			m.conditional(s, before, stack)
		}
		if b := m.bounded(s); len(b) > 0 && i > 0 {
			m.guarded(s, failing(b), stack, 0.3, 4)
		}
		if m.panicked(s) {
			m.guarded(s, m.unusualNames(s), stack, 0.8, 8)
		}
	}
}

func (m *mutator) text(n ast.Node) string {
	return string(m.d.file.src[m.g.offset(n.Pos()):m.g.offset(n.End())])
}

// operand is the text of x, in parentheses when an operator follows that
// binds as strongly as x's own or more.
func (m *mutator) operand(x ast.Expr) string {
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op.Precedence() < token.ADD.Precedence() {
		return "(" + m.text(x) + ")"
	}
	return m.text(x)
}

func (m *mutator) basic(x ast.Expr) (types.BasicInfo, bool) {
	t := m.g.info.Types[x].Type
	if t == nil || t == types.Typ[types.Invalid] {
		return 0, false
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info(), b.Kind() != types.Invalid
	}
	_, param := t.(*types.TypeParam)
	return 0, !param // a type parameter may stand for a number
}

// isBool reports whether x is certainly a bool and not a constant.
func (m *mutator) isBool(x ast.Expr) bool {
	info, known := m.basic(x)
	return known && info&types.IsBoolean != 0 && m.g.info.Types[x].Value == nil
}

// numeric reports whether x may be an operand of arithmetic: true if the type is unknown and
// the syntax does not exclude it.
func (m *mutator) numeric(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsNumeric != 0
	}
	return !isString(x)
}

// integer is numeric, and not surely a float.
func (m *mutator) integer(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsInteger != 0 || info&types.IsUntyped != 0 && info&types.IsNumeric != 0
	}
	l, ok := x.(*ast.BasicLit)
	return m.numeric(x) && (!ok || l.Kind == token.INT)
}

// ordered reports whether x may be an operand of <.
func (m *mutator) ordered(x ast.Expr) bool {
	if info, known := m.basic(x); known {
		return info&types.IsOrdered != 0 && info&types.IsUntyped == 0 || m.g.info.Types[x].Value != nil && info&types.IsOrdered != 0
	}
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name != "nil" && x.Name != "true" && x.Name != "false" && x.Name != "err"
	case *ast.CompositeLit, *ast.FuncLit:
		return false
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.NOT
	}
	return true
}

func isString(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.ParenExpr:
		return isString(x.X)
	case *ast.BinaryExpr:
		return isString(x.X) || isString(x.Y)
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && id.Name == "string"
	}
	return false
}

// parent returns the innermost of the nodes around, or nil.
func parent(stack []ast.Node) ast.Node {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// small returns the value of an integer literal.
func small(x ast.Expr) (int64, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Value, 0, 32)
	return n, err == nil
}
