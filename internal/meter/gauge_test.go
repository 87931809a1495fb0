package meter

import (
	"fmt"
	"testing"
)

func TestScale(t *testing.T) {
	for _, c := range []struct {
		goal    string
		a, b    Measure
		compare int
		reached bool // a
	}{
		{"metric >= 0", Measure{Value: -1}, Measure{Value: -2}, 1, false},
		{"metric >= 0", Measure{Value: 3}, Measure{Value: 2}, 1, true},
		{"metric <= 100", Measure{Value: 120}, Measure{Value: 110}, -1, false},
		{"metric < 100 && done", Measure{Value: 90}, Measure{Value: 110}, 1, true},
		{"metric == 5", Measure{Value: 4}, Measure{Value: 7}, 1, false},
		{"metric == 5", Measure{Value: 5}, Measure{Value: 4}, 1, true},
		{"metric >= 5 && metric <= 10", Measure{Value: 12}, Measure{Value: 1}, 1, false},
		{"metric >= 5 && metric <= 10", Measure{Value: 6}, Measure{Value: 9}, 0, true},
		{`when("fast")`, Measure{Value: 2}, Measure{Value: 1}, 1, false},
		{`text_matches("metric < x")`, Measure{Value: 2}, Measure{Value: 1}, 1, false},
		{"metric >= 0", Measure{-1, []string{"a"}}, Measure{-1, []string{"a", "b"}}, 1, false},
		{"metric >= 0", Measure{-1, []string{"a"}}, Measure{-1, []string{"b"}}, 0, false},
		{"metric >= -1.5e2", Measure{Value: -150}, Measure{Value: -150}, 0, true},
	} {
		s := ScaleOf(c.goal)
		if got := s.Compare(c.a, c.b); got != c.compare {
			t.Errorf("%s: %v against %v: %d, want %d", c.goal, c.a, c.b, got, c.compare)
		}
		if got := s.Compare(c.b, c.a); got != -c.compare {
			t.Errorf("%s: %v against %v: %d, want %d", c.goal, c.b, c.a, got, -c.compare)
		}
		if got := s.Reached(c.a.Value); got != c.reached {
			t.Errorf("%s: %v reached: %v", c.goal, c.a.Value, got)
		}
	}
}

func TestTrend(t *testing.T) {
	open := func(ids ...string) Measure { return Measure{float64(-len(ids)), ids} }
	for _, c := range []struct {
		before, now Measure
		want        Trend
	}{
		{open("a", "b"), open("a"), Improving},
		{open("a"), open("a", "b"), Regressing},
		{open("a"), open("a"), Flat},
		{open("a"), open("b"), Regressing},                 // one for the other
		{open("a", "b", "c"), open("d"), Regressing},       // whatever else was fixed
		{open("p [build]"), open("p.A", "p.B"), Improving}, // they were hidden
		{open("p [build]"), open("p.A", "q.B"), Regressing},
		{Measure{Value: 1}, Measure{Value: 2}, Improving},
		{Measure{Value: 2}, Measure{Value: 1}, Regressing},
	} {
		if got := ScaleOf("metric >= 0").Trend(c.before, c.now); got != c.want {
			t.Errorf("%v, then %v: %v, want %v", c.before, c.now, got, c.want)
		}
	}
}

func TestMoved(t *testing.T) {
	for _, c := range []struct {
		before, now []string
		want        string
	}{
		{[]string{"a", "b"}, []string{"b", "c"}, "[a] [c] []"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p.TestA"}, "[x.org/p [build]] [] [x.org/p.TestA]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p [panic]"}, "[x.org/p [build]] [] [x.org/p [panic]]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p/q.TestA"}, "[x.org/p [build]] [x.org/p/q.TestA] []"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p [build]", "x.org/p.TestA"}, "[] [x.org/p.TestA] []"},
		{[]string{"[setup]"}, []string{"x.org/p.TestA"}, "[[setup]] [] [x.org/p.TestA]"},
		{[]string{"t/test_a.py"}, []string{"t/test_a.py::test_x"}, "[t/test_a.py] [] [t/test_a.py::test_x]"},
		{[]string{"p.TestA"}, []string{"p.TestA/one", "p.TestAll"}, "[p.TestA] [p.TestAll] [p.TestA/one]"},
		{nil, []string{"a"}, "[] [a] []"},
	} {
		fixed, broke, shown := Moved(c.before, c.now)
		if got := fmt.Sprint(fixed, broke, shown); got != c.want {
			t.Errorf("%q to %q: %s, want %s", c.before, c.now, got, c.want)
		}
	}
}
