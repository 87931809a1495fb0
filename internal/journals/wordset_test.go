package journals_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/journals"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		" -- ?!":                         "",
		"Order 4711 arrived, order-4711": "4711 arrived order",
		"ÜBER naïve":                     "naïve über",
		"a\x00b\xffc":                    "a b c",
		"退款 4711":                        "4711 款 退",
		"x" + strings.Repeat("é", 40):    "x" + strings.Repeat("é", 31),
	} {
		got := strings.Join(journals.Words(text), " ")
		if got != want {
			t.Errorf("the words of %q are %q, not %q", text, got, want)
		}
	}
	if words := journals.Words(strings.Repeat("ab ", 100_000) + "end"); slices.Contains(words, "end") {
		t.Error("the end of a long text is kept")
	}
}

func TestMatch(t *testing.T) {
	words := journals.Words("Order 4711 arrived")
	for sought, want := range map[string]bool{"": true, "order": true, "ARR 47": true, "rrived": false, "order x": false, "orders": false} {
		if got := journals.WordsMatch(words, journals.Words(sought)); got != want {
			t.Errorf("%q: %v", sought, got)
		}
	}
	if !slices.IsSorted(words) {
		t.Error(words)
	}
}
