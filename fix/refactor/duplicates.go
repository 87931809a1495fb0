package refactor

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is worth a function.
const (
	leastRepeated = 3 // statements
	leastLines    = 4
	mostRepeated  = 30
)

// duplicates finds statements that functions of a package repeat and that can be a function: they do not leave the
// block around them, and the variables of it that they use nothing else can change or see meanwhile.
func duplicates(sources []*source) []place {
	f := &finder{taken: map[string]bool{}}
	for _, s := range sources {
		for id := range s.info.Defs {
			f.taken[id.Name] = true
		}
		for id := range s.info.Uses {
			f.taken[id.Name] = true
		}
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !generic(s, fn) && !jumps(fn.Body) {
				f.function(s, fn)
			}
		}
	}
	groups := map[string][]*run{}
	for _, b := range f.blocks {
		for from := range b.list {
			for n := leastRepeated; n <= mostRepeated && from+n <= len(b.list); n++ {
				if !f.promising(b, from, n) {
					break
				}
				if r := newRun(b, b.list[from:from+n], b.list[from+n:]); r != nil {
					groups[r.key] = append(groups[r.key], r)
				}
			}
		}
	}
	return f.choose(groups)
}

// finder looks for duplicates in a package.
type finder struct {
	blocks []*stretch
	rough  map[string]int // how often three statements stand in a row, by what they are but for names of variables
	taken  map[string]bool
}

// stretch is the statements of a block.
type stretch struct {
	*source

	fn     *ast.FuncDecl
	list   []ast.Stmt
	tokens map[token.Pos]*ast.Ident
	unsafe map[types.Object]bool // variables of the function that something else may change
	rough  []string
}

func generic(s *source, fn *ast.FuncDecl) bool {
	sig, ok := s.info.Defs[fn.Name].(*types.Func)
	return !ok || sig.Signature().TypeParams().Len() > 0 || sig.Signature().RecvTypeParams().Len() > 0
}

func (f *finder) function(s *source, fn *ast.FuncDecl) {
	idents := map[token.Pos]*ast.Ident{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			idents[id.Pos()] = id
		}
		return true
	})
	unsafe := exposed(s, fn)
	add := func(list []ast.Stmt) {
		if len(list) < leastRepeated {
			return
		}
		b := &stretch{s, fn, list, idents, unsafe, nil}
		for _, stmt := range list {
			text, _ := b.canonical([]ast.Stmt{stmt}, func(*ast.Ident, types.Object) string { return "v" })
			b.rough = append(b.rough, text)
		}
		for i := 0; i+leastRepeated <= len(list); i++ {
			if f.rough == nil {
				f.rough = map[string]int{}
			}
			f.rough[strings.Join(b.rough[i:i+leastRepeated], "\n")]++
		}
		f.blocks = append(f.blocks, b)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			add(n.List)
		case *ast.CaseClause:
			add(n.Body)
		case *ast.CommClause:
			add(n.Body)
		}
		return true
	})
}

// promising reports whether statements may stand elsewhere, too.
func (f *finder) promising(b *stretch, from, n int) bool {
	return f.rough[strings.Join(b.rough[from+n-leastRepeated:from+n], "\n")] > 1
}

// exposed are the variables of a function that may change while a copy of them is used: whose address is taken, also
// by a method or a slice, and those that a function literal uses.
func exposed(s *source, fn *ast.FuncDecl) map[types.Object]bool {
	out := map[types.Object]bool{}
	add := func(e ast.Expr) {
		if id := root(s, e); id != nil {
			out[object(s, id)] = true
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		case *ast.SliceExpr:
			if _, is := s.info.TypeOf(n.X).Underlying().(*types.Array); is {
				add(n.X)
			}
		case *ast.SelectorExpr:
			if sel := s.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && pointerMethod(sel) && !pointer(sel.Recv()) {
				add(n.X)
			}
		case *ast.FuncLit:
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					out[object(s, id)] = true
				}
				return true
			})
		}
		return true
	})
	return out
}

func pointer(t types.Type) bool {
	_, is := t.Underlying().(*types.Pointer)
	return is
}

func pointerMethod(sel *types.Selection) bool {
	f, ok := sel.Obj().(*types.Func)
	return ok && f.Signature().Recv() != nil && pointer(f.Signature().Recv().Type())
}

// root is the variable that an expression is a part of; nil: it is behind a pointer, a map or a slice.
func root(s *source, e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if sel := s.info.Selections[x]; sel == nil || sel.Indirect() {
				return nil
			}
			e = x.X
		case *ast.IndexExpr:
			if _, is := s.info.TypeOf(x.X).Underlying().(*types.Array); !is {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

func object(s *source, id *ast.Ident) types.Object {
	if o := s.info.Defs[id]; o != nil {
		return o
	}
	return s.info.Uses[id]
}

// local reports whether an object is a variable or constant of a function.
func local(o types.Object) bool {
	switch x := o.(type) {
	case *types.Var:
		return !x.IsField() && x.Pkg() != nil && x.Parent() != x.Pkg().Scope()
	case *types.Const:
		return x.Pkg() != nil && x.Parent() != x.Pkg().Scope()
	}
	return false
}

// canonical is the tokens of statements, with other names for local variables. ok is false if a name is that of
// something else in the function, such as a type.
func (b *stretch) canonical(list []ast.Stmt, name func(*ast.Ident, types.Object) string) (text string, ok bool) {
	from, to := b.offset(list[0].Pos()), b.offset(list[len(list)-1].End())
	base := list[0].Pos() - token.Pos(from)
	var out strings.Builder
	file := token.NewFileSet().AddFile("", -1, to-from)
	var sc scanner.Scanner
	sc.Init(file, []byte(b.text[from:to]), func(token.Position, string) {}, 0)
	ok = true
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			return out.String(), ok
		}
		word := lit
		if lit == "" || tok == token.SEMICOLON {
			word = tok.String()
		}
		if tok == token.IDENT {
			if id := b.tokens[base+token.Pos(from+file.Offset(pos))]; id != nil {
				switch o := object(b.source, id); {
				case o == nil: // the variable of a type switch
					ok = false
				case local(o):
					word = name(id, o)
				case o.Pkg() != nil && o.Parent() == o.Pkg().Scope():
					word = o.Pkg().Path() + "." + o.Name()
				case o.Parent() != nil && o.Parent() != types.Universe:
					if p, is := o.(*types.PkgName); is {
						word = p.Imported().Path()
					} else {
						ok = false
					}
				}
			}
		}
		out.WriteString(word + " ")
	}
}

// run is a run of statements that can be a function.
type run struct {
	*stretch

	list []ast.Stmt
	key  string
	ins  []types.Object // variables around it
	outs []types.Object // variables that it declares and that are used after it, or those around it that it sets
	sets bool           // which of the two
}

func newRun(b *stretch, list, after []ast.Stmt) *run {
	r := &run{stretch: b, list: list}
	changed := map[types.Object]bool{}
	if b.lines(list) < leastLines || !r.contained(changed) {
		return nil
	}
	from, to := list[0].Pos(), list[len(list)-1].End()
	inner := map[types.Object]int{}
	key, ok := b.canonical(list, func(id *ast.Ident, o types.Object) string {
		if from <= o.Pos() && o.Pos() < to {
			if _, known := inner[o]; !known {
				inner[o] = len(inner)
			}
			return fmt.Sprintf("l%d:%v", inner[o], o.Type())
		}
		i := slices.Index(r.ins, o)
		if i < 0 {
			i, r.ins = len(r.ins), append(r.ins, o)
		}
		return fmt.Sprintf("p%d:%v", i, o.Type())
	})
	if !ok || slices.ContainsFunc(r.ins, func(o types.Object) bool { return b.unsafe[o] }) {
		return nil
	}
	for i, o := range r.ins {
		if changed[o] {
			if b.result(o) {
				return nil // a panic would return what it is by then
			}
			r.sets, r.outs = true, append(r.outs, o)
			key += fmt.Sprintf("←p%d", i)
		}
	}
	for _, stmt := range after {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				o := b.info.Uses[id]
				if _, is := inner[o]; is && !slices.Contains(r.outs, o) {
					r.outs = append(r.outs, o)
				}
			}
			return true
		})
	}
	if r.sets {
		if slices.ContainsFunc(r.outs, func(o types.Object) bool { return !changed[o] }) {
			return nil // it would have to set and to declare
		}
		r.key = key
		return r
	}
	slices.SortFunc(r.outs, func(x, y types.Object) int { return inner[x] - inner[y] })
	for _, o := range r.outs {
		if _, is := o.(*types.Var); !is || b.unsafe[o] {
			return nil
		}
		key += fmt.Sprintf("→l%d", inner[o])
	}
	r.key = key
	return r
}

func (b *stretch) lines(list []ast.Stmt) int {
	return b.line(list[len(list)-1].End()) - b.line(list[0].Pos()) + 1
}

// result reports whether a variable is a result of the function.
func (b *stretch) result(o types.Object) bool {
	results := b.fn.Type.Results
	return results != nil && results.Pos() <= o.Pos() && o.Pos() < results.End()
}

// contained reports whether statements stay among themselves, and adds the variables around them that they set.
func (r *run) contained(changed map[types.Object]bool) bool {
	ok := true
	from, to := r.list[0].Pos(), r.list[len(r.list)-1].End()
	set := func(e ast.Expr) {
		if id := root(r.source, e); id != nil {
			if o := object(r.source, id); local(o) && !(from <= o.Pos() && o.Pos() < to) {
				changed[o] = true
			}
		}
	}
	var walk func(n ast.Node, loop, breakable bool)
	walk = func(n ast.Node, loop, breakable bool) {
		ast.Inspect(n, func(x ast.Node) bool {
			if x == n || !ok {
				return ok
			}
			switch x := x.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				walk(x, true, true)
				if rng, is := x.(*ast.RangeStmt); is && rng.Tok == token.ASSIGN {
					set(rng.Key)
					set(rng.Value)
				}
				return false
			case *ast.SwitchStmt, *ast.SelectStmt:
				walk(x, loop, true)
				return false
			case *ast.FuncLit, *ast.ReturnStmt, *ast.DeferStmt, *ast.LabeledStmt, *ast.TypeSwitchStmt:
				ok = false
			case *ast.BranchStmt:
				ok = ok && (x.Tok == token.CONTINUE && loop || x.Tok == token.BREAK && breakable || x.Tok == token.FALLTHROUGH)
			case *ast.IncDecStmt:
				set(x.X)
			case *ast.AssignStmt:
				for _, e := range x.Lhs {
					set(e)
				}
			case *ast.CallExpr:
				if id, is := x.Fun.(*ast.Ident); is && id.Name == "recover" {
					ok = false
				}
			}
			return ok
		})
	}
	walk(&ast.BlockStmt{List: r.list}, false, false)
	return ok
}

// choose picks the duplicates that save the most lines, without any that overlap.
func (f *finder) choose(groups map[string][]*run) []place {
	var all [][]*run
	for _, g := range groups {
		if len(g) > 1 {
			all = append(all, g)
		}
	}
	saves := func(g []*run) int { return g[0].lines(g[0].list) * (len(g) - 1) }
	slices.SortFunc(all, func(a, b []*run) int {
		return cmp.Or(saves(b)-saves(a), strings.Compare(a[0].name, b[0].name), int(a[0].list[0].Pos()-b[0].list[0].Pos()))
	})
	var used []*run
	var places []place
	for _, g := range all {
		var free []*run
		for _, r := range g {
			if !slices.ContainsFunc(slices.Concat(used, free), r.overlaps) {
				free = append(free, r)
			}
		}
		if len(free) < 2 {
			continue
		}
		if p, ok := f.extract(free); ok {
			places, used = append(places, p), append(used, free...)
		}
	}
	return places
}

func (r *run) overlaps(o *run) bool {
	return r.list[0].Pos() < o.list[len(o.list)-1].End() && o.list[0].Pos() < r.list[len(r.list)-1].End()
}

// extract makes a function of statements that are repeated. It has the names of the first of them.
func (f *finder) extract(g []*run) (place, bool) {
	first := g[0]
	from, to := first.list[0].Pos(), first.list[len(first.list)-1].End()
	for _, r := range g[1:] {
		if r.commented(r.list[0].Pos(), r.list[len(r.list)-1].End()) {
			return place{}, false // a comment there may say something else
		}
	}
	declare := func(list []types.Object, named bool) (string, bool) {
		var parts []string
		for _, o := range list {
			text := types.TypeString(o.Type(), func(p *types.Package) string { return first.imported(p) })
			t, err := types.Eval(first.fset, first.types, first.fn.Pos(), text)
			if err != nil || !types.Identical(t.Type, o.Type()) {
				return "", false // it cannot be written in that file
			}
			if named {
				text = o.Name() + " " + text
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", "), true
	}
	ins, ok := declare(first.ins, true)
	outs, ok2 := declare(first.outs, false)
	if !ok || !ok2 {
		return place{}, false
	}
	name := f.name(first.fn.Name.Name)
	body := "func " + name + "(" + ins + ")"
	switch len(first.outs) {
	case 0:
	case 1:
		body += " " + outs
	default:
		body += " (" + outs + ")"
	}
	body += " {\n" + first.text[first.offset(from):first.offset(to)] + "\n"
	if len(first.outs) > 0 {
		body += "return " + names(first.outs) + "\n"
	}
	p := place{file: first.name, line: first.line(from), edits: []textEdit{first.edit(first.fn.End(), first.fn.End(), "\n\n"+body+"}")}}
	where := make([]string, len(g))
	for i, r := range g {
		call := name + "(" + names(r.ins) + ")"
		if len(r.outs) > 0 {
			call = names(r.outs) + map[bool]string{true: " = ", false: " := "}[r.sets] + call
		}
		p.edits = append(p.edits, r.edit(r.list[0].Pos(), r.list[len(r.list)-1].End(), call))
		where[i] = r.fn.Name.Name
	}
	p.what = fmt.Sprintf("%d lines of %s become %s", first.lines(first.list), strings.Join(where, " and "), name)
	return p, true
}

func names(list []types.Object) string {
	parts := make([]string, len(list))
	for i, o := range list {
		parts[i] = o.Name()
	}
	return strings.Join(parts, ", ")
}

// imported is what a package is called in the file.
func (s *source) imported(p *types.Package) string {
	if p == s.types {
		return ""
	}
	for _, spec := range s.file.Imports {
		if n := s.info.PkgNameOf(spec); n != nil && n.Imported().Path() == p.Path() {
			return n.Name()
		}
	}
	return p.Path() // which is no name
}

// name is a name that nothing in the package has, from that of a function.
func (f *finder) name(fn string) string {
	r, size := utf8.DecodeRuneInString(fn)
	base := string(unicode.ToLower(r)) + fn[size:] + "Shared"
	name := base
	for i := 2; f.taken[name]; i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	f.taken[name] = true
	return name
}
