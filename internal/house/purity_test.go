package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Pure code sees only what is handed to it. Most of what it must not touch can
// be told by the import. The leaves it stands on may guard a cache with a lock,
// but the world is as far from them as from what calls them.
var impure = []struct {
	path, why string
	leaves    bool // forbidden to those leaves too
}{
	{"os", "the file system and the environment are effects", true},
	{"syscall", "the operating system is an effect", true},
	{"net", "the network is an effect", true},
	{"io/ioutil", "files are effects", true},
	{"log", "what happened stands in the run's log and nowhere else", true},
	{"math/rand", "chance arrives in entries", true},
	{"crypto/rand", "chance arrives in entries", true},
	{"sync", "a lock means shared state, and State is a value", false},
	{"runtime", "what a run decides must not depend on where it runs", false},
	{"unsafe", "a value that can be reached around its methods is not immutable", false},
	{"hash/maphash", "its seed differs between processes, so what it decides does too", false},
	{"C", "what is outside Go is outside the log", true},
}

// These parse text and reach nothing.
var harmless = map[string]bool{"net/netip": true, "net/url": true}

// The rest are a few names in packages that are otherwise welcome.
var impureNames = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
}

// isPure reports whether the policy puts a package among those that must be pure.
func isPure(class string) bool { return class == "0" || class == "1" }

// impurities lists what a file does that pure code must not do, or, for a leaf
// that pure code stands on, what even such a leaf must not do.
func impurities(fset *token.FileSet, s *source, leaf bool) []string {
	var found []string
	report := func(at token.Pos, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s:%d: %s", s.name, fset.Position(at).Line, fmt.Sprintf(format, args...)))
	}
	watched := map[string]string{} // the file's name for a watched package -> its path
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		for _, i := range impure {
			if (p == i.path || strings.HasPrefix(p, i.path+"/")) && !harmless[p] && (!leaf || i.leaves) {
				report(spec.Pos(), "imports %s: %s", p, i.why)
			}
		}
		if first, _, _ := strings.Cut(p, "/"); !leaf && strings.Contains(first, ".") && p != module && !strings.HasPrefix(p, module+"/") {
			report(spec.Pos(), "imports %s: nobody can say what another's code reads; put it behind a package in internal", p)
		}
		if impureNames[p] == nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			report(spec.Pos(), "imports %s with a dot, which hides where its names come from", p)
		}
		watched[name] = p
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && slices.Contains(impureNames[watched[id.Name]], sel.Sel.Name) {
				report(n.Pos(), "%s.%s: time arrives in entries", watched[id.Name], sel.Sel.Name)
			}
		}
		if leaf {
			return true
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n.Pos(), "starts a goroutine: only the engine has any")
		case *ast.SelectStmt:
			report(n.Pos(), "selects: which case is taken is chance")
		case *ast.ChanType:
			report(n.Pos(), "has a channel: what arrives, arrives in the log")
		case *ast.SendStmt:
			report(n.Pos(), "sends on a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n.Pos(), "receives from a channel: when it returns is chance")
			}
		}
		return true
	})
	return found
}

// leavesUnder lists the leaves that the pure packages reach through their imports.
func leavesUnder(p *plan, tr *tree) map[string]bool {
	reached := map[string]bool{}
	for _, k := range tr.pkgs {
		if !isPure(p.classOf(k.dir)) {
			continue
		}
		for _, s := range k.files {
			for _, path := range s.imports() {
				if to, ok := local(path); ok && !s.test && p.classOf(to) == "leaf" {
					reached[to] = true
				}
			}
		}
	}
	return reached // a leaf imports nothing of ours but what lies below it
}

// within reports whether a file lies in one of the directories.
func within(name string, dirs map[string]bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}

func TestPurity(t *testing.T) {
	p, tr := thePlan(t), repository(t)
	leaves := leavesUnder(p, tr)
	checked := 0
	for _, k := range tr.pkgs {
		leaf := p.classOf(k.dir) == "leaf"
		if leaf && !within(k.dir+"/x", leaves) || !leaf && !isPure(p.classOf(k.dir)) {
			continue
		}
		for _, s := range k.files {
			if s.test {
				continue
			}
			checked++
			for _, f := range impurities(tr.fset, s, leaf) {
				t.Error(f)
			}
		}
	}
	if checked == 0 {
		t.Error("no pure file was looked at")
	}
}
