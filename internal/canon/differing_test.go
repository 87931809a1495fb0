package canon

import (
	"fmt"
	"testing"
)

func TestDiffering(t *testing.T) {
	for _, c := range []struct {
		a, b map[string]string
		want string
	}{
		{nil, nil, "[]"},
		{map[string]string{"x": "1"}, map[string]string{"x": "1"}, "[]"},
		{map[string]string{"x": ""}, nil, "[x]"},
		{map[string]string{"b": "1", "c": "2"}, map[string]string{"a": "1", "c": "3"}, "[a b c]"},
	} {
		if got := fmt.Sprint(Differing(c.a, c.b)); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
