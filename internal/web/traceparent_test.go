package web

import (
	"slices"
	"strings"
	"testing"
)

const one = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestParse(t *testing.T) {
	for id, want := range map[string]string{
		one:             one,
		" " + one + " ": one,
		"":              "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7": "",
		one + "-more":                     "",
		"01" + one[2:] + "-more":          one, // a later version may say more
		"01" + one[2:] + "more":           "",
		"ff" + one[2:]:                    "",
		strings.ToUpper(one):              "",
		strings.Replace(one, "-", "_", 1): "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01": "",
	} {
		if got := ParseParent(id, "").ID; got != want {
			t.Errorf("ParseParent(%q) = %q, want %q", id, got, want)
		}
	}
	if got := ParseParent(one, "a=b\nX-Evil: 1").State; got != "" {
		t.Errorf("a state with a line break is passed on: %q", got)
	}
	if got := ParseParent(one, "a=b").State; got != "a=b" {
		t.Errorf("the state is %q", got)
	}
}

func TestRoundTrip(t *testing.T) {
	p := ParseParent(one, "a=b")
	trace, span, flags, ok := p.Split()
	if back := ParentOf(trace, span, flags, "a=b"); !ok || back != p {
		t.Errorf("%v became %v", p, back)
	}
	if _, _, _, ok := (Parent{}).Split(); ok {
		t.Error("nothing is a place in a trace")
	}
	if got := p.Into([]string{"A=1", "TRACESTATE=old=1"}); !slices.Equal(got, []string{"A=1", "TRACEPARENT=" + one, "TRACESTATE=a=b"}) {
		t.Errorf("the environment is %q", got)
	}
	if ParentFrom(WithParent(t.Context(), p)) != p || ParentFrom(WithParent(t.Context(), Parent{})) != (Parent{}) {
		t.Error("a context loses it")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(one, "a=b")
	f.Fuzz(func(t *testing.T, id, state string) {
		p := ParseParent(id, state)
		if ParseParent(p.ID, p.State) != p {
			t.Errorf("%v is not taken as it was given", p)
		}
		if _, _, _, ok := p.Split(); ok != (p.ID != "") {
			t.Errorf("%v cannot be taken apart", p)
		}
	})
}
