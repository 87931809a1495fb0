package stop_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// The letters of the truth tables: a leaf of each outcome, and one of none.
var letters = map[string]string{
	"s": `when("s")`,            // success
	"e": `exhausted(when("e"))`, // exhausted
	"f": `failed(when("f"))`,    // failed
	"n": `stalled(1)`,           // no_progress
	"z": `!!when("z")`,          // no outcome of its own
}

var letter = regexp.MustCompile(`\b[sefnz]\b`)

// TestTruth reads testdata/truth: each case is the whole table of an expression
// over letters, with the outcome and, in brackets, the branch and leaf that
// decided. A row of dots does not hold.
func TestTruth(t *testing.T) {
	world := newWorld("", false)
	calm := world.state.Clone()
	for range 2 {
		world.think("", pawl.Usage{}, 0, call{tool: "a", args: "{}", status: pawl.ToolOK})
	}
	stuck := &world.state

	datadriven.RunTest(t, "testdata/truth/tables", func(t *testing.T, d *datadriven.TestData) string {
		set := map[string]bool{}
		o := &stop.Options{When: map[string]func(*pawl.State) bool{}}
		for name := range letters {
			o.When[name] = func(*pawl.State) bool { return set[name] }
		}
		c, err := stop.Parse(letter.ReplaceAllStringFunc(d.Input, func(l string) string { return letters[l] }), o)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range letter.FindAllString(d.Input, -1) {
			if !strings.Contains(strings.Join(names, ""), l) {
				names = append(names, l)
			}
		}
		var b strings.Builder
		for row := range 1 << len(names) {
			for i, name := range names {
				set[name] = row>>(len(names)-1-i)&1 == 1
				if set[name] {
					b.WriteString(name + " ")
				} else {
					b.WriteString(". ")
				}
			}
			state := calm
			if set["n"] {
				state = stuck
			}
			if v := c.Eval(state); v.Holds {
				fmt.Fprintf(&b, "%v [%s; %s]\n", v.Status, short(v.Condition), short(v.Leaf))
			} else {
				b.WriteString("..\n")
			}
		}
		return b.String()
	})
}

// short writes letters again for what they stand for.
func short(source string) string {
	for l, long := range letters {
		source = strings.ReplaceAll(source, long, l)
	}
	return strings.NewReplacer(`when("e")`, "e'", `when("f")`, "f'").Replace(source)
}
