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

// add is what a tree's node makes of its children, by the words of its kind alone.
func whole(n stop.Node) (holds bool, outcome pawl.Status, err error) {
	for _, c := range n.Children {
		h, o, err := whole(c)
		if err != nil {
			return false, 0, err
		}
		if h != c.Holds || h && o != c.Outcome {
			return false, 0, fmt.Errorf("%s says %v %v, its parts say %v %v", c.Source, c.Holds, c.Outcome, h, o)
		}
	}
	holding := slices.DeleteFunc(slices.Clone(n.Children), func(c stop.Node) bool { return !c.Holds })
	success := slices.ContainsFunc(holding, func(c stop.Node) bool { return c.Outcome == pawl.Success })
	switch n.Kind {
	case stop.KindAny:
		if len(holding) == 0 {
			return false, 0, nil
		}
		if success {
			return true, pawl.Success, nil
		}
		return true, holding[0].Outcome, nil
	case stop.KindAll:
		if len(holding) < len(n.Children) {
			return false, 0, nil
		}
		if success {
			return true, pawl.Success, nil
		}
		for _, c := range n.Children {
			if c.Outcome != 0 {
				return true, c.Outcome, nil
			}
		}
		return true, 0, nil
	case stop.KindNot:
		return len(holding) == 0, 0, nil
	case stop.KindOverride:
		return len(holding) == 1, n.Outcome, nil
	}
	return n.Holds, n.Outcome, nil
}

// TestTreeAgrees holds that a tree says of random conditions in random states
// what Eval says, that every node of it follows from its children, that every
// part's source is a condition that says the same, and that the leaf that decided
// is in it.
func TestTreeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	states := randomWorlds(r, 60)
	o := &stop.Options{When: map[string]func(pawl.State) bool{
		"yes": func(pawl.State) bool { return true }, "no": func(pawl.State) bool { return false },
		"started": func(s pawl.State) bool { return s.Iteration() > 0 },
	}}
	held := 0
	for range 600 {
		c, err := stop.Parse(randomSource(r, 4), o)
		if err != nil {
			t.Fatal(err)
		}
		s := states[r.IntN(len(states))]
		v, n := c.Eval(s), stop.Tree(c, s)
		holds, outcome, err := whole(n)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", c, err)
		case n.Source != c.String() || n.Holds != v.Holds || holds != v.Holds:
			t.Fatalf("%s holds: %v; as a tree: %v, by its parts: %v", c, v.Holds, n.Holds, holds)
		}
		leaves := map[string]bool{}
		var walk func(n stop.Node)
		walk = func(n stop.Node) {
			part, err := stop.Parse(n.Source, o)
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
		if outcome != v.Status && (outcome != 0 || v.Status != pawl.Exhausted) {
			t.Fatalf("%s is %v; by the parts of its tree %v", c, v.Status, outcome)
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
	n := stop.Whole(w.state)
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
