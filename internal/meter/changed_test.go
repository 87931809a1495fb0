package meter

import (
	"fmt"
	"strings"
	"testing"
)

func TestChanged(t *testing.T) {
	var many []string
	for i := range 22 {
		many = append(many, fmt.Sprint("A-", i))
	}
	for _, c := range []struct {
		before, now *Measure
		want        string
	}{
		{nil, nil, ""},
		{&Measure{Value: 1}, &Measure{Value: 1, Open: []string{}}, ""},
		{&Measure{-2, []string{"a", "b"}}, &Measure{-2, []string{"b", "a"}}, ""},
		{&Measure{-2, []string{"a", "b"}}, &Measure{-3, []string{"b", "c", "d"}}, "no longer open: a; newly open: c, d"},
		{&Measure{-2, []string{"a"}}, &Measure{-2.5, []string{"a"}}, "the metric, from -2 to -2.5"},
		{nil, &Measure{}, "the goal, which could not be measured then"},
		{&Measure{}, nil, "the goal, which cannot be measured now"},
		{&Measure{Open: many}, &Measure{}, "no longer open: " + strings.Join(many[:20], ", ") + " and 2 more"},
	} {
		if got := strings.Join(Changed(c.before, c.now), "; "); got != c.want {
			t.Errorf("%v, then %v: %q, want %q", c.before, c.now, got, c.want)
		}
	}
}
