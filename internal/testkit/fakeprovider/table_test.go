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

// own are the faults of the catalogue that no server causes, or not alone: the right response, and
// the test that shows it.
var own = []struct {
	number int
	fault  string
	why    string
	test   string
}{
	{31, "thinking that must come back unchanged", "keeps the thinking byte for byte, in its place, and sends it only to the model that produced it", "modeltest opaque/back"},
	{32, "reasoning without the part that follows it, or that part alone", "keeps both or drops both", "modeltest opaque/back"},
	{33, "a call without its result", "pairs every call with its result, in the one user message that follows", "FuzzRequests"},
	{34, "a call cut short by a cancel or a crash", "answers the call as interrupted, in the log", "testdata/loops/cancel.txt"},
	{35, "a result without its call", "leaves results out, never calls", "testdata/loops/toolong.txt"},
	{38, "two results for a call", "has one result per call in the log", "FuzzRequests"},
	{50, "a cache mark on an empty block", "sends no empty block", "TestLongConversation"},
	{51, "more than four cache marks", "sets two", "TestLongConversation"},
	{52, "a conversation with results to leave out", "leaves out all results but the latest, and sends the request once more", "testdata/loops/toolong.txt"},
	{53, "a request for a summary that is itself too long", "asks no model for a summary", "testdata/loops/toolong.txt"},
	{54, "a summary that is slow, empty or late", "asks no model for a summary", "testdata/loops/toolong.txt"},
	{58, "failed attempts that do not report their usage", "books each attempt at the most that it can have cost", "TestFaults"},
	{59, "totals counted again after a restart", "sums the entries, and stores no sum", "TestKillPoints"},
}

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
	seen := map[int]bool{}
	faults := fakeprovider.Faults()
	slices.SortStableFunc(faults, func(a, b fakeprovider.Fault) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range faults {
		seen[f.Number] = true
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
	want += "\n**fine**, held by the test named:\n\n"
	for _, o := range own {
		seen[o.number] = true
		want += fmt.Sprintf("- %s: %s (`%s`).\n", o.fault, o.why, o.test)
	}
	for n := 1; n <= 69; n++ {
		if !seen[n] {
			t.Errorf("fault %d of the catalogue has no test", n)
		}
	}
	if *update {
		must(t, os.WriteFile(table, []byte(want), 0o600))
	} else if diff := gocmp.Diff(string(page), want); diff != "" {
		t.Errorf("docs/faults.md differs; run the test with -update (-old +new):\n%s", diff)
	}
}
