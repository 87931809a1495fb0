package stop_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// TestTreeAgrees holds that a tree says of random conditions in random states
// what Eval says, that every part's source is a condition that says the same, and
// that the leaf that decided is in it.
func TestTreeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	states := randomWorlds(r, 60)
	held := 0
	for range 600 {
		c, err := stop.Parse(randomSource(r, 4), options)
		if err != nil {
			t.Fatal(err)
		}
		s := states[r.IntN(len(states))]
		v, n := c.Eval(s), stop.Tree(c, s)
		if n.Source != c.String() || n.Holds != v.Holds {
			t.Fatalf("%s holds: %v; as a tree: %v", c, v.Holds, n.Holds)
		}
		leaves := map[string]bool{}
		var walk func(n stop.Node)
		walk = func(n stop.Node) {
			part, err := stop.Parse(n.Source, options)
			if err != nil || part.Eval(s).Holds != n.Holds {
				t.Fatalf("%s: its part %s does not stand for itself (%v)", c, n.Source, err)
			}
			if n.Kind == stop.KindLeaf != (len(n.Children) == 0) || n.Kind == stop.KindLeaf && n.Detail == "" {
				t.Fatalf("%s: its part %s is a %v with %d parts and the detail %q", c, n.Source, n.Kind, len(n.Children), n.Detail)
			}
			if n.Holds {
				leaves[n.Source] = true
			}
			for _, child := range n.Children {
				walk(child)
			}
		}
		walk(n)
		if !v.Holds {
			continue
		}
		held++
		if n.Outcome != v.Status && (n.Outcome != 0 || v.Status != pawl.StatusExhausted) {
			t.Fatalf("%s is %v; as a tree %v", c, v.Status, n.Outcome)
		}
		if !leaves[v.Leaf] {
			t.Fatalf("%s was decided by %s, which does not hold in its tree", c, v.Leaf)
		}
	}
	if held < 100 {
		t.Fatalf("only %d of the conditions held", held)
	}
}

// TestWhole shows what can end a run beside its condition, and reads back what it
// wrote.
func TestWhole(t *testing.T) {
	w := newWorld("", true)
	w.think("ok", pawl.Usage{Input: 10, Output: 5}, 1, call{tool: "a", args: "{}", status: pawl.ToolOK})
	n := stop.Whole(&w.state)
	raw, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	var back stop.Node
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(raw) {
		t.Errorf("%s reads back as %s (%v)", raw, again, err)
	}
	var found []string
	for _, c := range n.Children {
		line := c.Source
		if c.Used != nil && c.Limit != nil {
			line = fmt.Sprintf("%s: %g of %g", line, *c.Used, *c.Limit)
		}
		found = append(found, line)
	}
	all := strings.Join(found, "\n")
	l := w.state.Limits()
	for _, want := range []string{
		fmt.Sprintf("iterations >= %d: 1 of %[1]d", l.Iterations), fmt.Sprintf("tokens >= %d: 15 of %[1]d", l.Tokens),
		fmt.Sprintf(": 0 of %g", l.Time.Seconds()), fmt.Sprintf("tool_errors >= %d: 0 of %[1]d", l.ToolErrors), "done",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %q in\n%s", want, all)
		}
	}
	if n.Holds {
		t.Errorf("something ends it: %s", raw)
	}
}

// TestWholeOrder: of what holds at once, the root shows what decides.
func TestWholeOrder(t *testing.T) {
	for source, want := range map[string]pawl.Status{
		"iterations >= 1":            pawl.StatusSuccess, // the answer
		"failed(iterations >= 1)":    pawl.StatusFailed,
		"exhausted(iterations >= 1)": pawl.StatusExhausted,
		`text_matches("ok")`:         pawl.StatusSuccess,
	} {
		w := newWorld("", false)
		w.add(pawl.RunExtended{Stop: source})
		w.think("ok", pawl.Usage{}, 0)
		if n := stop.Whole(&w.state); !n.Holds || n.Outcome != want {
			t.Errorf("%s beside an answer: %v %v, want %v", source, n.Holds, n.Outcome, want)
		}
	}
}

// TestWholeOfAnEnd shows what ended a run, which may hold by nothing in the state.
func TestWholeOfAnEnd(t *testing.T) {
	for _, leaf := range []string{"done", "refused"} {
		w := newWorld("", false)
		w.add(pawl.RunStopped{Status: pawl.StatusSuccess, Condition: leaf, Leaf: leaf, Detail: "why"})
		n := stop.Whole(&w.state)
		i := slices.IndexFunc(n.Children, func(c stop.Node) bool { return c.Holds })
		if i < 0 || n.Children[i].Source != leaf || n.Children[i].Detail != "why" || !n.Holds || n.Outcome != pawl.StatusSuccess {
			t.Errorf("%s: %+v", leaf, n)
		}
	}
}
