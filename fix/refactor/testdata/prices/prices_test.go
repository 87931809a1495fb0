package prices

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

func TestTotal(t *testing.T) {
	got, err := Total([]Item{{"tea", 2, 300, nil}, {"egg", 20, 25, nil}})
	if err != nil || got != 1050 {
		t.Errorf("Total = %d, %v, want 1050", got, err)
	}
	if _, err := Total(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("Total of nothing: %v", err)
	}
}

func TestText(t *testing.T) {
	if got := Label(Item{Name: " strawberry jam "}); got != "STRAWBERRY J:" {
		t.Errorf("Label = %q", got)
	}
	if got := Heading("The Shop Around the Corner"); got != "*** THE SHOP ARO ***" {
		t.Errorf("Heading = %q", got)
	}
}

func TestFill(t *testing.T) {
	list := map[string]int{}
	Fill(list, []Item{{Name: "tea", Count: 70}, {Name: "tea", Count: 70}, {Name: "egg"}})
	if want := map[string]int{"TEA:": 99}; !maps.Equal(list, want) {
		t.Errorf("Fill = %v, want %v", list, want)
	}
}

func TestNames(t *testing.T) {
	if got := Names([]Item{{Name: "tea"}, {Name: "egg"}}); !slices.Equal(got, []string{"egg", "tea"}) {
		t.Errorf("Names = %q", got)
	}
}
