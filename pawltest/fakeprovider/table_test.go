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

	"github.com/pawl-run/pawl/pawltest/fakeprovider"
)

var update = flag.Bool("update", false, "rewrite docs/faults.md")

const table = "../../docs/faults.md"

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
	var rows []struct {
		number int
		text   string
	}
	add := func(number int, fault, wires, does, why, test string) {
		rows = append(rows, struct {
			number int
			text   string
		}{number, fmt.Sprintf("| %d | %s | %s | %s | %s | `%s` |\n", number, fault, wires, does, why, test)})
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
	for n := 1; n <= 68; n++ {
		if !seen[n] {
			t.Errorf("row %d of the catalogue has no test", n)
		}
	}
	slices.SortStableFunc(rows, func(a, b struct {
		number int
		text   string
	}) int {
		return cmp.Compare(a.number, b.number)
	})
	var b strings.Builder
	b.WriteString(head)
	for _, r := range rows {
		b.WriteString(r.text)
	}
	if *update {
		if err := os.WriteFile(table, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(old), b.String()); diff != "" {
		t.Errorf("docs/faults.md differs; run the test with -update (-old +new):\n%s", diff)
	}
}

const head = `# When a model's provider goes wrong

This page says what Pawl does under each of 68 known faults of providers, and of the networks in front of them. The tests
that prove the table also write it (` + "`go test ./pawltest/fakeprovider -run TestTable -update`" + `). Each row is a test over
real HTTP, on every wire where the fault can occur, at the reply that calls tools and at the reply that ends the run. After
each fault, the test resumes the run if it stopped, and checks that

- the run succeeds after one healthy reply, so nothing in the log makes later requests fail;
- no effect happened twice, and no faulty reply caused an effect;
- the provider accepted every later request;
- the log replays to the same decisions.

The words of the fourth column mean:

| word | the log has | the run |
|---|---|---|
| fine | no trace of the fault | continues |
| retry CLASS | ` + "`model.failed`" + ` with the class, then another attempt of the same iteration | continues. When CLASS has used up its attempts, it ends as ` + "`failed`" + ` (exit 1, resumable) or uses a fallback |
| park CLASS | ` + "`model.failed`, `run.paused`" + ` with the time of the next attempt | ` + "`paused`" + ` (exit 130, resumable), or uses a fallback |
| fail CLASS | ` + "`model.failed`, `run.stopped`" + ` | ` + "`failed`" + ` (exit 1, resumable), or uses a fallback when the class is quota, auth or not_found |
| refused | ` + "`model.replied`, `run.stopped`" + ` | ` + "`failed`" + ` (exit 1, resumable) |
| refuse | ` + "`model.replied`, `tool.refused`" + ` for the calls that cannot run; the others run | continues |
| reject | ` + "`model.replied`, `plan.rejected`" + `; none of the calls runs | continues. After two such iterations it ends as ` + "`plan_failed`" + ` (exit 7, resumable) |
| continue | ` + "`model.replied`" + ` with the reason ` + "`pause`" + ` | continues |

The server that causes the faults is [pawltest/fakeprovider](../pawltest/fakeprovider). Your own tests can use it. So can any
program that reads its provider's address from the environment (` + "`go run ./pawltest/cmd/fakeprovider --help`" + `).

| # | fault | wires | Pawl | how | test |
|---|---|---|---|---|---|
`
