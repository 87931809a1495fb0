package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// direction says which parts of package engine may call which. The part of a file is its name up
// to the first underscore; a file with another name belongs to the part engine, which may call all.
// Where something below has to reach up, it does so by an interface that it declares itself.
const direction = `
driver    effect request inbox recorder host log
effect    request inbox recorder host log
feature   inbox recorder host log
request   inbox recorder host log
inbox
recorder  host log
host      log
log
`

// TestEngineDirection holds the direction of calls within package engine.
func TestEngineDirection(t *testing.T) {
	tr := repository(t)
	if !strings.Contains(tr.read(t, "docs/architecture.md"), "```"+direction+"```") {
		t.Error("the parts of the engine in docs/architecture.md are not those in direction_test.go")
	}
	may := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(direction)) {
		f := strings.Fields(line)
		may[f[0]] = f
	}
	partOf := func(p token.Pos) string {
		part, _, _ := strings.Cut(strings.TrimSuffix(path.Base(tr.fset.Position(p).Filename), ".go"), "_")
		if may[part] == nil {
			return "engine"
		}
		return part
	}
	var files []*ast.File
	for _, s := range tr.pkgs[slices.IndexFunc(tr.pkgs, func(p *pkg) bool { return p.dir == "engine" })].files {
		if !s.test {
			files = append(files, s.ast)
		}
	}
	uses := map[*ast.Ident]types.Object{}
	conf := types.Config{Importer: checkerOf(t).lookup}
	engine, err := conf.Check(module+"/engine", tr.fset, files, &types.Info{Uses: uses})
	must(t, err)
	for id, object := range uses {
		f, ok := object.(*types.Func)
		if !ok || f.Pkg() != engine || f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
			continue
		}
		if from, to := partOf(id.Pos()), partOf(f.Pos()); from != "engine" && !slices.Contains(may[from], to) {
			t.Errorf("%s: the part %s calls %s, which belongs to %s", tr.fset.Position(id.Pos()), from, f.Name(), to)
		}
	}
}
