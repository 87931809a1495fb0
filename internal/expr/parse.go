package expr

import "strconv"

const (
	// MaxSource is the longest source Parse accepts, in bytes.
	MaxSource = 64 << 10

	// MaxDepth is the maximal nesting of parentheses, calls and negations.
	MaxDepth = 100
)

// Parse parses an expression. Its errors are all *Error. It does not check that
// names and functions exist; see [Check].
func Parse(source string) (Node, error) {
	if len(source) > MaxSource {
		return nil, Errorf(1, "the expression has %d bytes (%d are allowed)", len(source), MaxSource)
	}
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, p.trailing(t)
	}
	// Printing adds blanks. The printed form must parse, so the limit applies
	// to it as well.
	if printed := len(n.String()); printed > MaxSource {
		return nil, Errorf(1, "the expression has %d bytes when blanks are added (%d are allowed)", printed, MaxSource)
	}
	return n, nil
}

type parser struct {
	tokens []token
	pos    int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.pos] }

// take consumes the sign s if it comes next.
func (p *parser) take(s string) bool {
	if t := p.peek(); t.kind != sign || t.src != s {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(s, where string) error {
	if p.take(s) {
		return nil
	}
	t := p.peek()
	return Errorf(t.col, "expected %s %s, found %s", s, where, t.describe())
}

// words maps words of other languages to operators.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "is": "==", "AND": "&&", "OR": "||", "NOT": "!"}

func (p *parser) trailing(t token) error {
	if op, ok := words[t.src]; ok && t.kind == name {
		return Errorf(t.col, "expected an operator, found %s (write %s)", t.src, op)
	}
	return Errorf(t.col, "expected an operator or the end, found %s", t.describe())
}

func (p *parser) or() (Node, error) {
	return p.chain("||", p.and, MakeOr)
}

func (p *parser) and() (Node, error) {
	return p.chain("&&", p.comparison, MakeAnd)
}

// chain parses operands with one sign between them.
func (p *parser) chain(sign string, operand func() (Node, error), join func(At, ...Node) Node) (Node, error) {
	first, err := operand()
	if err != nil {
		return nil, err
	}
	terms := []Node{first}
	for at := At(p.peek().col); ; {
		if !p.take(sign) {
			return join(at, terms...), nil
		}
		n, err := operand()
		if err != nil {
			return nil, err
		}
		terms = append(terms, n)
	}
}

func (p *parser) comparison() (Node, error) {
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	op, ok := p.operator()
	if !ok {
		return x, nil
	}
	y, err := p.unary()
	if err != nil {
		return nil, err
	}
	again := p.peek()
	if _, ok := p.operator(); ok {
		return nil, Errorf(again.col, "comparisons do not chain (write a < b && b < c)")
	}
	return &Compare{At: At(t.col), Op: op, X: x, Y: y}, nil
}

// operator consumes a comparison sign if one comes next.
func (p *parser) operator() (Op, bool) {
	if t := p.peek(); t.kind == sign {
		for op := Eq; op <= Ge; op++ {
			if t.src == op.String() {
				p.pos++
				return op, true
			}
		}
	}
	return 0, false
}

func (p *parser) unary() (Node, error) {
	t := p.peek()
	if p.depth++; p.depth > MaxDepth {
		return nil, Errorf(t.col, "nested more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	if p.take("!") {
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &Not{At: At(t.col), X: x}, nil
	}
	return p.primary()
}

func (p *parser) primary() (Node, error) {
	t := p.peek()
	p.pos++
	switch t.kind {
	case number:
		return &Number{At: At(t.col), Text: t.src}, nil
	case duration:
		return &Duration{At: At(t.col), Value: t.span, Text: t.src}, nil
	case text:
		return &String{At: At(t.col), Value: t.value, Text: t.src}, nil
	case name:
		return p.named(t)
	}
	p.pos--
	if p.take("(") {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")", "to close the parenthesis")
	}
	if t.kind == sign && t.src == "." {
		return nil, Errorf(t.col, "expected a value, found . (write 0.5, not .5)")
	}
	return nil, Errorf(t.col, "expected a name, a value, ! or (, found %s", t.describe())
}

// named parses a literal, a call or a path that begins with the name t.
func (p *parser) named(t token) (Node, error) {
	switch t.src {
	case "true", "false":
		return &Bool{At: At(t.col), Value: t.src == "true"}, nil
	case "null":
		return &Null{At: At(t.col)}, nil
	}
	if p.take("(") {
		args, err := p.args(t.src)
		return &Call{At: At(t.col), Func: t.src, Args: args}, err
	}
	if op, ok := words[t.src]; ok && op == "!" && p.peek().kind == name {
		return nil, Errorf(t.col, "unexpected %s (write %s)", t.src, op)
	}
	path := &Path{At: At(t.col), Root: t.src}
	for {
		key, ok, err := p.key()
		if err != nil || !ok {
			return path, err
		}
		path.Keys = append(path.Keys, key)
	}
}

func (p *parser) args(function string) ([]Node, error) {
	if p.take(")") {
		return nil, nil
	}
	var args []Node
	for {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
		if !p.take(",") {
			return args, p.expect(")", "or , in the arguments of "+function)
		}
	}
}

// key parses .name, ["name"] or [0] if one comes next.
func (p *parser) key() (Key, bool, error) {
	switch {
	case p.take("."):
		t := p.peek()
		if t.kind == number || t.kind == duration {
			return Key{}, false, Errorf(t.col, `expected a name after the point, found %s (write ["%s"] or [0])`, t.src, t.src)
		}
		if t.kind != name {
			return Key{}, false, Errorf(t.col, "expected a name after the point, found %s", t.describe())
		}
		p.pos++
		return Key{Name: t.src}, true, nil
	case p.take("["):
		t := p.peek()
		key := Key{Name: t.value}
		if t.kind != text {
			index, err := strconv.Atoi(t.src)
			if t.kind != number || err != nil || index < 0 {
				return Key{}, false, Errorf(t.col, "expected an index or a string in [ ], found %s", t.describe())
			}
			key = Key{Index: index, IsIndex: true}
		}
		p.pos++
		return key, true, p.expect("]", "after the index")
	}
	return Key{}, false, nil
}
