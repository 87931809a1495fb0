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

// own are the rows of the catalogue that no server causes, or not alone: what is
// right, and the test that shows it.
var own = []struct {
	number int
	fault  string
	why    string
	test   string
}{
	{31, "thinking that must come back unchanged", "keeps the thinking byte for byte, in its place, and sends it only to the model that produced it", "TestThinkingComesBack"},
	{32, "reasoning without the part that follows it, or that part alone", "keeps both or drops both", "TestThinkingComesBack"},
	{33, "a call without its result", "pairs every call with its result, in the one user message that follows", "TestCallsCutShort"},
	{34, "a call cut short by a cancel or a crash", "answers the call as interrupted, in the log", "TestCallsCutShort"},
	{35, "a result without its call", "leaves results out, never calls", "TestTooLong"},
	{38, "two results for a call", "has one result per call in the log", "TestCallsCutShort"},
	{50, "a cache mark on an empty block", "sends no empty block", "TestLongConversation"},
	{51, "more than four cache marks", "sets two", "TestLongConversation"},
	{52, "a conversation with results to leave out", "leaves out all results but the latest, and sends the request once more", "TestTooLong"},
	{53, "a request for a summary that is itself too long", "asks no model for a summary", "TestTooLong"},
	{54, "a summary that is slow, empty or late", "asks no model for a summary", "TestTooLong"},
	{58, "failed attempts that do not report their usage", "books each attempt at the most that it can have cost", "TestDeadProvider"},
	{59, "totals counted again after a restart", "sums the entries, and stores no sum", "TestDeadProvider"},
}

// The table in the documentation is what the tests hold.
func TestTable(t *testing.T) {
	type row struct {
		number int
		text   string
	}
	var rows []row
	add := func(number int, fault, wires, does, why, test string) {
		rows = append(rows, row{number, fmt.Sprintf("| %d | %s | %s | %s | %s | `%s` |\n", number, fault, wires, does, why, test)})
	}
	seen := map[int]bool{}
	for _, f := range fakeprovider.Faults() {
		c := cases[f.Name]
		does := c.does
		for _, w := range f.Wires {
			if other, ok := c.on[w]; ok {
				does += fmt.Sprintf("; %v: %s", w, other)
			}
		}
		wires := make([]string, len(f.Wires))
		for i, w := range f.Wires {
			wires[i] = w.String()
		}
		in := strings.Join(wires, ", ")
		if len(wires) == 4 {
			in = "all"
		}
		seen[f.Number] = true
		add(f.Number, fmt.Sprintf("**%s**: %s", f.Name, strings.TrimSuffix(f.About, ".")), in, strings.ReplaceAll(does, " | ", " or "), c.why, fmt.Sprintf("TestFaults/%02d/%s", f.Number, f.Name))
	}
	for _, o := range own {
		seen[o.number] = true
		add(o.number, o.fault, "all", "fine", o.why, o.test)
	}
	for n := 1; n <= 69; n++ {
		if !seen[n] {
			t.Errorf("row %d of the catalogue has no test", n)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.number, b.number) })
	page, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	const columns = "| # | fault | wires | Pawl | how | test |\n|---|---|---|---|---|---|\n"
	about, _, found := strings.Cut(string(page), columns)
	if !found {
		t.Fatalf("%s has no table", table)
	}
	want := about + columns
	for _, r := range rows {
		want += r.text
	}
	if *update {
		if err := os.WriteFile(table, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := gocmp.Diff(string(page), want); diff != "" {
		t.Errorf("docs/faults.md differs; run the test with -update (-old +new):\n%s", diff)
	}
}
