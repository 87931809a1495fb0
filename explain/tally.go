package explain

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/figure"
)

// tally counts what happened in steps, for those that a page does not show.
type tally struct {
	counts map[string]int // by noun, in the singular
	broke  int
	goal   []float64 // the measures at the beginning and at the end; nil: none
}

func (t *tally) count(noun string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[noun]++
}

func (t *tally) addAll(steps []Decision) {
	for i := range steps {
		t.add(steps[i].tally)
	}
}

func (t *tally) add(o tally) {
	for noun, n := range o.counts {
		for range n {
			t.count(noun)
		}
	}
	t.broke += o.broke
	if t.goal == nil {
		t.goal = o.goal
	} else if o.goal != nil {
		t.goal = []float64{t.goal[0], o.goal[1]}
	}
}

// nouns are what is counted, in the order in which it is shown.
var nouns = []string{"turn", "call", "failed call", "reused result", "refused call", "question to a person or client", "doubt",
	"failed model call", "rejection", "hint", "signal", "resume"}

func (t *tally) String() string {
	var parts []string
	for _, noun := range nouns {
		if n := t.counts[noun]; n > 0 {
			parts = append(parts, figure.Count(n, noun))
		}
	}
	if t.goal != nil {
		parts = append(parts, fmt.Sprintf("metric %g → %g", t.goal[0], t.goal[1]))
	}
	if t.broke > 0 {
		parts = append(parts, "broke "+figure.Group(t.broke))
	}
	return strings.Join(parts, ", ")
}
