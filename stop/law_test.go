package stop_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// randomWorlds makes runs of all lengths, most of them dull and some stuck.
func randomWorlds(r *rand.Rand, n int) []*pawl.State {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var states []*pawl.State
	for range n {
		w := newWorld(pick("hello", "I am angry", "a refund, please"), r.IntN(2) == 0)
		for range r.IntN(4) {
			var calls []call
			for range r.IntN(3) {
				c := call{tool: pick("a", "b"), args: fmt.Sprintf(`{"x":%d,"s":"%s"}`, r.IntN(3), pick("u", "v")), status: pawl.ToolOK}
				switch r.IntN(4) {
				case 0:
					c.status = pawl.ToolFailed
				case 1:
					c.edited = `{"x":1}`
				case 2:
					c = call{tool: "ask", args: pick("fine", "angry")}
				}
				calls = append(calls, c)
			}
			w.wait(time.Duration(r.IntN(3)) * time.Second)
			w.think(pick("", "ok", "all done"), pawl.Usage{Input: r.IntN(3), Output: r.IntN(3)}, float64(r.IntN(3)), calls...)
			if r.IntN(2) == 0 {
				w.add(pawl.Reflected{Confidence: float64(r.IntN(3)) / 2})
			}
			if r.IntN(2) == 0 {
				w.add(pawl.Observed{}, pawl.Measured{Value: float64(r.IntN(5) - 2)})
			}
		}
		states = append(states, &w.state)
	}
	return states
}

// randomSource writes a condition with needless blanks and parentheses.
func randomSource(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		return randomLeaf(r)
	}
	sub := func() string { return randomSource(r, depth-1) }
	switch r.IntN(8) {
	case 0, 1, 2:
		return "(" + sub() + "||" + sub() + ")"
	case 3, 4, 5:
		return "(" + sub() + " && " + sub() + ")"
	case 6:
		return "!(" + sub() + ")"
	}
	return []string{"success", "failed", "exhausted"}[r.IntN(3)] + "( " + sub() + ")"
}

func randomLeaf(r *rand.Rand) string {
	op := func() string { return " " + []string{"==", "!=", "<", "<=", ">", ">="}[r.IntN(6)] + " " }
	small := func() string { return fmt.Sprint(r.IntN(4)) }
	switch r.IntN(14) {
	case 0:
		return "done"
	case 1:
		return `tool_called("` + []string{"a", "b", "none"}[r.IntN(3)] + `")`
	case 2:
		return `tool_called("a",args.x` + op() + small() + `)`
	case 3:
		return `tool_called("b", args.s == "u" || args.x` + op() + `args.missing)`
	case 4:
		return "text_matches(\"d[o]ne\\b\")"
	case 5:
		return `user_said("angry")` + op() + small()
	case 6:
		return "stalled(" + fmt.Sprint(1+r.IntN(2)) + ")"
	case 7:
		return `when("` + []string{"yes", "no", "started"}[r.IntN(3)] + `")`
	case 8:
		return "elapsed" + op() + small() + "s"
	case 9:
		return fmt.Sprintf("confidence%s0.%d", op(), r.IntN(10))
	case 10:
		return "metric" + op() + []string{"-1", "0", "1.5"}[r.IntN(3)]
	}
	if r.IntN(3) == 0 {
		return "tool_errors" + op() + small()
	}
	name := []string{"iterations", "tokens", "cost", "tool_calls"}[r.IntN(4)]
	if r.IntN(3) == 0 {
		return small() + op() + name
	}
	return name + op() + small()
}

func parse(t *testing.T, source string) pawl.Condition {
	t.Helper()
	c, err := stop.Parse(source, options)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return c
}

// TestLaws: the algebra is Boolean in what holds, && and || associate in all
// that a verdict says, and printing loses nothing.
func TestLaws(t *testing.T) { // Promises: L9.
	type conditions []pawl.Condition
	holds := func(build func(a, b, c pawl.Condition) [2]pawl.Condition) func(a, b, c pawl.Condition, s *pawl.State) bool {
		return func(a, b, c pawl.Condition, s *pawl.State) bool {
			pair := build(a, b, c)
			return pair[0].Eval(s).Holds == pair[1].Eval(s).Holds
		}
	}
	same := func(build func(a, b, c pawl.Condition) conditions) func(a, b, c pawl.Condition, s *pawl.State) bool {
		return func(a, b, c pawl.Condition, s *pawl.State) bool {
			all := build(a, b, c)
			for _, x := range all[1:] {
				if x.Eval(s) != all[0].Eval(s) || x.String() != all[0].String() {
					return false
				}
			}
			return true
		}
	}
	laws := map[string]func(a, b, c pawl.Condition, s *pawl.State) bool{
		"De Morgan, or": holds(func(a, b, _ pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.Not(stop.Any(a, b)), stop.All(stop.Not(a), stop.Not(b))}
		}),
		"De Morgan, and": holds(func(a, b, _ pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.Not(stop.All(a, b)), stop.Any(stop.Not(a), stop.Not(b))}
		}),
		"double negation": holds(func(a, _, _ pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.Not(stop.Not(a)), a}
		}),
		"or commutes": holds(func(a, b, _ pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.Any(a, b), stop.Any(b, a)}
		}),
		"and commutes": holds(func(a, b, _ pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.All(a, b), stop.All(b, a)}
		}),
		"and distributes": holds(func(a, b, c pawl.Condition) [2]pawl.Condition {
			return [2]pawl.Condition{stop.All(a, stop.Any(b, c)), stop.Any(stop.All(a, b), stop.All(a, c))}
		}),
		"excluded middle": func(a, _, _ pawl.Condition, s *pawl.State) bool {
			return stop.Any(a, stop.Not(a)).Eval(s).Holds && !stop.All(a, stop.Not(a)).Eval(s).Holds
		},
		"or associates": same(func(a, b, c pawl.Condition) conditions {
			return conditions{stop.Any(a, b, c), stop.Any(a, stop.Any(b, c)), stop.Any(stop.Any(a, b), c)}
		}),
		"and associates": same(func(a, b, c pawl.Condition) conditions {
			return conditions{stop.All(a, b, c), stop.All(a, stop.All(b, c)), stop.All(stop.All(a, b), c)}
		}),
		"one is itself": same(func(a, _, _ pawl.Condition) conditions {
			return conditions{a, stop.Any(a), stop.All(a), stop.Any(stop.All(stop.Any(a)))}
		}),
		"printing loses nothing": same(func(a, b, c pawl.Condition) conditions {
			all := stop.All(a, stop.Any(stop.Not(b), stop.Failed(c)))
			back, err := stop.Parse(all.String(), options)
			if err != nil {
				t.Fatal(err)
			}
			return conditions{all, back}
		}),
		"an override overrides": func(a, _, _ pawl.Condition, s *pawl.State) bool {
			v := a.Eval(s)
			return stop.Success(a).Eval(s).Holds == v.Holds && stop.Success(a).Eval(s).Leaf == v.Leaf &&
				(!v.Holds || stop.Success(a).Eval(s).Status == pawl.StatusSuccess &&
					stop.Exhausted(a).Eval(s).Status == pawl.StatusExhausted && stop.Failed(a).Eval(s).Status == pawl.StatusFailed)
		},
	}
	r := rand.New(rand.NewPCG(3, 5))
	states := randomWorlds(r, 30)
	for name, law := range laws {
		t.Run(name, func(t *testing.T) {
			for range 300 {
				a, b, c := parse(t, randomSource(r, 2)), parse(t, randomSource(r, 2)), parse(t, randomSource(r, 2))
				if s := states[r.IntN(len(states))]; !law(a, b, c, s) {
					t.Fatalf("fails for\na: %s\nb: %s\nc: %s", a, b, c)
				}
			}
		})
	}
}

// FuzzParse: reading never panics, and what is read prints what reads back as
// the same, in text and in verdict.
func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f.Add(randomSource(r, 3))
	}
	f.Add(`tool_called("submit_po", args.x[0]["y"] == 1.0) && confidence>=0.9||iterations >= 10`)
	states := append(randomWorlds(r, 5), new(pawl.State))
	f.Fuzz(func(t *testing.T, source string) {
		c, err := stop.Parse(source, options)
		if err != nil {
			return
		}
		back, err := stop.Parse(c.String(), options)
		if err != nil {
			t.Fatalf("%q prints %q: %v", source, c, err)
		}
		if back.String() != c.String() {
			t.Fatalf("%q prints %q, then %q", source, c, back)
		}
		for _, s := range states {
			if v, w := c.Eval(s), back.Eval(s); v != w {
				t.Fatalf("%q: %+v, parsed back %+v", source, v, w)
			}
		}
	})
}
