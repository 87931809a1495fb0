package goedit

import (
	"bytes"
	"encoding/json"
	"go/ast"
	values "go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
)

// mostInCorpus bounds the entries that are read of each corpus.
const mostInCorpus = 200

// corpusEntry is a file of a fuzz corpus: an input that a person or a fuzzer found worth keeping.
type corpusEntry struct {
	file, target, name string
	texts              []string // the entry's values, as Go
}

// corpora reads the fuzz corpora of the package in a directory.
func corpora(root fs.FS, dir string) []corpusEntry {
	names, _ := fs.Glob(root, path.Join(dir, "testdata/fuzz/Fuzz*/*")) // the pattern is well formed
	var list []corpusEntry
	of := map[string]int{}
	for _, name := range names {
		e := corpusEntry{file: name, target: path.Base(path.Dir(name)), name: path.Base(name)}
		if of[e.target]++; of[e.target] > mostInCorpus {
			continue
		}
		text, err := fs.ReadFile(root, name)
		rest, ok := bytes.CutPrefix(text, []byte("go test fuzz v1\n"))
		if err != nil || !ok {
			continue
		}
		for line := range strings.Lines(string(rest)) {
			if line = strings.TrimSpace(line); line != "" {
				e.texts = append(e.texts, line)
			}
		}
		list = append(list, e)
	}
	return list
}

// corpusValue reads a value of an entry, such as []byte("x") or int(-3): texts, integers and
// floats. The kind is one of theirs; without one the value is of no use as an input.
func corpusValue(text string) (kind types.BasicInfo, value any) {
	x, err := parser.ParseExpr(text)
	if err != nil {
		return 0, nil
	}
	if c, ok := x.(*ast.CallExpr); ok && len(c.Args) == 1 {
		if _, slice := c.Fun.(*ast.ArrayType); slice {
			x = c.Args[0] // bytes are written as a text
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if types.CheckExpr(token.NewFileSet(), nil, token.NoPos, x, info) != nil || info.Types[x].Value == nil {
		return 0, nil
	}
	tv := info.Types[x]
	switch tv.Value.Kind() {
	case values.String:
		return types.IsString, values.StringVal(tv.Value)
	case values.Int:
		if n, exact := values.Int64Val(tv.Value); exact && n <= math.MaxInt32 && n >= math.MinInt32 {
			return types.IsInteger, n
		}
	case values.Float:
		f, _ := values.Float64Val(tv.Value)
		return types.IsFloat, f
	}
	return 0, nil
}

// lent takes the next value of the corpora that fits a literal; nil: there is none.
func (p *probing) lent(t *types.Basic, old values.Value) any {
	fits := func(v any) bool {
		n, whole := v.(int64)
		switch {
		case !whole:
			return true
		case n < 0 && t.Info()&types.IsUnsigned != 0, n > math.MaxInt8 && (t.Kind() == types.Uint8 || t.Kind() == types.Int8):
			return false
		}
		return !values.Compare(old, token.EQL, values.MakeInt64(n))
	}
	for kind, list := range p.found {
		if t.Info()&kind == 0 {
			continue // of another kind, which does not compare
		}
		if i := slices.IndexFunc(list, fits); i >= 0 {
			v := list[i]
			p.found[kind] = append(slices.Delete(list, i, i+1), v)
			return v
		}
	}
	return nil
}

// targets are probes that run the fuzz targets themselves, on one entry each.
func targets(entries []corpusEntry) []Probe {
	var list []Probe
	for _, e := range entries {
		list = append(list, Probe{File: e.file, Line: 1, Test: e.target + "/" + e.name, Old: "the seeds of " + e.target, New: strings.Join(e.texts, ", ")})
	}
	return list
}

// corpusValues are the values of entries, by kind, each once.
func corpusValues(entries []corpusEntry) map[types.BasicInfo][]any {
	found := map[types.BasicInfo][]any{}
	seen := map[string]bool{}
	for _, e := range entries {
		for _, text := range e.texts {
			kind, v := corpusValue(text)
			if raw, err := json.Marshal(v); v != nil && err == nil && !seen[string(raw)] {
				seen[string(raw)] = true
				found[kind] = append(found[kind], v)
			}
		}
	}
	return found
}
