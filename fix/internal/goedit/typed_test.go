package goedit

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/ranks again")

const ranksFile = "testdata/ranks"

// library is an importer of the packages that the faulty modules import.
var library = sync.OnceValue(func() func(t testing.TB) types.Importer {
	var imp types.Importer
	return func(t testing.TB) types.Importer {
		if imp == nil {
			var b strings.Builder
			b.WriteString("package m\n\nimport (\n")
			for _, p := range []string{"bytes", "cmp", "container/heap", "errors", "fmt", "io", "maps", "math", "os", "regexp", "slices", "sort", "strconv", "strings", "sync", "testing", "time", "unicode", "unicode/utf8"} {
				fmt.Fprintf(&b, "\t_ %q\n", p)
			}
			b.WriteString(")\n")
			imp = outside(t, map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m.go": b.String()})
		}
		return imp
	}
})

// typedCorpus is that of the corpus, and modules whose faults only rules that
// know types can fix.
func typedCorpus(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/typed/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d faulty modules, want at least 20 (%v)", len(names), err)
	}
	return append(names, corpus(t)...)
}

// TestRanks compares the places of the right edits with those recorded. One
// that is a little lower is noise; where it is much lower, a change of the
// rules or weights has cost more than it may.
func TestRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and has one goroutine only")
	}
	t.Parallel() // with what needs no importer, which can serve one at a time only
	imp := library()(t)
	recorded := map[string]int{}
	if text, err := os.ReadFile(ranksFile); err != nil && !*rewrite {
		t.Fatal(err)
	} else if err == nil {
		for line := range strings.Lines(string(text)) {
			var name string
			var rank int
			if _, err := fmt.Sscan(line, &name, &rank); err != nil {
				t.Fatalf("%s: %q: %v", ranksFile, line, err)
			}
			recorded[name] = rank
		}
	}
	// The last of them is not at place 300, and what comes further down costs as
	// much as what stands above.
	now := map[string]int{}
	for _, path := range typedCorpus(t) {
		c := readFaulty(t, path)
		edits, err := Candidates(c.files, c.hints, &Options{Importer: imp, Limit: 300})
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		now[name] = c.rankOf(edits)
		was, ok := recorded[name]
		switch {
		case *rewrite:
		case !ok:
			t.Errorf("%s has no rank in %s: run with -rewrite", name, ranksFile)
		case now[name] == 0 && was > 0 || now[name] > was+was/4+4:
			t.Errorf("%s: the right edit is at place %d, was at %d", name, now[name], was)
		}
	}
	if *rewrite {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(now)) {
			fmt.Fprintf(&b, "%s %d\n", name, now[name])
		}
		if err := os.WriteFile(ranksFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	early := 0
	for _, r := range now {
		if r > 0 && r <= 100 {
			early++
		}
	}
	if early*10 < len(now)*9 {
		t.Errorf("%d of %d right edits are among the first 100, want nine tenths", early, len(now))
	}
}
