package fakeprovider_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

var update = flag.Bool("update", false, "rewrite the table of docs/faults.md")

const table = "../../../docs/faults.md"

// defaults leaves out the default places of faults, which its code has.
var defaults = strings.NewReplacer(", or half of them", "", ", or half", "", ", or the middle one", "", ", or 100", "", ", or 1000", "", ", or 27", "", ": K, or 1", "", ": K, or 20", "", ", K or 1 seconds after Date", "")

// TestTable holds that the documentation says what the tests hold: for each response of Pawl the
// faults that it has this response to.
func TestTable(t *testing.T) {
	type group struct {
		does, why string
		faults    []string
	}
	var groups []*group
	faults := fakeprovider.Faults()
	slices.SortStableFunc(faults, func(a, b fakeprovider.Fault) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range faults {
		c := cases[f.Name]
		does := strings.ReplaceAll(c.does, " | ", " or ")
		missing := []string{"anthropic", "chat", "responses", "google"}
		var wires []string
		for _, w := range f.Wires {
			wires = append(wires, w.String())
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == w.String() })
			if other, ok := c.on[w]; ok {
				does += fmt.Sprintf("; %v: %s", w, other)
			}
		}
		line := fmt.Sprintf("- `%s`: %s", f.Name, defaults.Replace(strings.TrimSuffix(f.About, ".")))
		switch {
		case len(missing) == 1:
			line += " (not " + missing[0] + ")"
		case len(missing) > 1:
			line += " (" + strings.Join(wires, ", ") + ")"
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.does == does && g.why == c.why })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{does: does, why: c.why})
		}
		groups[i].faults = append(groups[i].faults, line+".\n")
	}
	const beginning = "## Faults\n"
	page, err := os.ReadFile(table)
	must(t, err)
	about, _, found := strings.Cut(string(page), beginning)
	if !found {
		t.Fatalf("%s has no part for the faults", table)
	}
	want := about + beginning
	for _, g := range groups {
		want += fmt.Sprintf("\n**%s**: %s.\n\n%s", g.does, g.why, strings.Join(g.faults, ""))
	}
	if *update {
		must(t, os.WriteFile(table, []byte(want), 0o600))
	} else if diff := gocmp.Diff(string(page), want); diff != "" {
		t.Errorf("docs/faults.md differs; run the test with -update (-old +new):\n%s", diff)
	}
}
