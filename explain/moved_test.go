package explain

import (
	"fmt"
	"testing"
)

func TestMoved(t *testing.T) {
	for _, c := range []struct {
		before, now []string
		want        string
	}{
		{[]string{"a", "b"}, []string{"b", "c"}, "[fixed \x01a\x03 broke \x01c\x03]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p.TestA"}, "[fixed \x01x.org/p [build]\x03 showed \x01x.org/p.TestA\x03, hidden before]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p [panic]"}, "[fixed \x01x.org/p [build]\x03 showed \x01x.org/p [panic]\x03, hidden before]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p/q.TestA"}, "[fixed \x01x.org/p [build]\x03 broke \x01x.org/p/q.TestA\x03]"},
		{[]string{"x.org/p [build]"}, []string{"x.org/p [build]", "x.org/p.TestA"}, "[broke \x01x.org/p.TestA\x03]"},
		{[]string{"[setup]"}, []string{"x.org/p.TestA"}, "[fixed \x01[setup]\x03 showed \x01x.org/p.TestA\x03, hidden before]"},
		{[]string{"t/test_a.py"}, []string{"t/test_a.py::test_x"}, "[fixed \x01t/test_a.py\x03 showed \x01t/test_a.py::test_x\x03, hidden before]"},
		{[]string{"p.TestA"}, []string{"p.TestA/one", "p.TestAll"}, "[fixed \x01p.TestA\x03 broke \x01p.TestAll\x03 showed \x01p.TestA/one\x03, hidden before]"},
		{nil, []string{"a"}, "[broke \x01a\x03]"},
	} {
		if got := fmt.Sprint(parts(moved(c.before, c.now))); got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.before, c.now, got, c.want)
		}
	}
}
