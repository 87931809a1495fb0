package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// exits lists the statements that may leave a place: continue and break in a
// loop, and returns of what other returns give, of nothing, or of an error.
func (m *mutator) exits(pos token.Pos, stack []ast.Node) []twin {
	var out []twin
	loop, breakable := inLoop(stack)
	if loop {
		out = append(out, twin{"continue", 1}, twin{"break", 0.95})
	} else if breakable {
		out = append(out, twin{"break", 0.5})
	}
	sig, body := m.function(stack)
	if sig == nil {
		return out
	}
	inside := times(loop, 0.75)
	results := sig.Results()
	if results.Len() == 0 {
		return append(out, twin{"return", inside})
	}
	if results.At(0).Name() != "" {
		out = append(out, twin{"return", 0.6 * inside})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && !strings.Contains(m.text(r), "\n") {
			out = append(out, twin{m.text(r), 0.9 * inside * m.clues.spoken(r)})
		}
		_, nested := n.(*ast.FuncLit)
		return !nested
	})
	for _, r := range m.plain(sig, pos) {
		out = append(out, twin{"return " + r.text, r.weight * inside})
	}
	for _, i := range m.g.ingredients(m.d.file.dir()).returns {
		if fn, ok := i.of.node.(*ast.FuncDecl); ok && i.of != m.d {
			if f, ok := m.g.info.Defs[fn.Name].(*types.Func); ok && types.Identical(f.Signature().Results(), results) {
				out = append(out, twin{i.text, 0.6 * m.near(i) * inside * m.clues.spoken(i.node)})
			}
		}
	}
	out = distinct(out)
	return out[:min(len(out), 8)]
}

// plain lists results made of zero values, of an error at hand, and of a
// parameter of the right type.
func (m *mutator) plain(sig *types.Signature, pos token.Pos) []twin {
	n := sig.Results().Len()
	if n == 0 {
		return nil
	}
	zeros := make([]string, n)
	for i := range n {
		if zeros[i] = m.zero(sig.Results().At(i).Type()); zeros[i] == "" {
			return nil
		}
	}
	with := func(last string) string {
		return strings.Join(append(append([]string{}, zeros[:n-1]...), last), ", ")
	}
	last := sig.Results().At(n - 1).Type()
	out := []twin{{with(zeros[n-1]), 0.85}}
	switch {
	case isError(last):
		for _, v := range m.locals(pos) {
			if isError(v.Type()) {
				out = append(out, twin{with(v.Name()), 1.1})
			}
		}
		for _, e := range m.g.ingredients(m.d.file.dir()).errors {
			w := 0.75
			if mentions(m.clues.text, e.text) {
				w = 1.4
			}
			out = append(out, twin{with(e.text), w})
		}
		// A test that wants an error seldom asks for more.
		if m.imported("fmt") {
			out = append(out, twin{with("fmt.Errorf(\"invalid " + m.d.name + "\")"), 0.5})
		} else if m.imported("errors") {
			out = append(out, twin{with("errors.New(\"invalid " + m.d.name + "\")"), 0.5})
		}
	default:
		if b, ok := last.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			out = append(out, twin{with("true"), 0.8})
		}
		if n == 1 {
			for _, v := range m.locals(pos) {
				if types.Identical(v.Type(), last) {
					out = append(out, twin{v.Name(), 0.7})
				}
			}
			if b, ok := last.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUnsigned == 0 {
				out = append(out, twin{"1", 0.4}, twin{"-1", 0.4})
			}
		}
	}
	return out
}
