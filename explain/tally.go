package explain

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/figure"
)

// tally counts the steps of the middle part that a page does not show.
type tally struct {
	turns, again, calls, errors, reused, refused, asked, doubts int
	failures, rejected, hints, signals, resumes, broke          int
	metric                                                      bool
	from, to                                                    float64
}

func (t *tally) add(o tally) {
	t.turns += o.turns
	t.again += o.again
	t.calls += o.calls
	t.errors += o.errors
	t.reused += o.reused
	t.refused += o.refused
	t.asked += o.asked
	t.doubts += o.doubts
	t.failures += o.failures
	t.rejected += o.rejected
	t.hints += o.hints
	t.signals += o.signals
	t.resumes += o.resumes
	t.broke += o.broke
	if o.metric {
		if !t.metric {
			t.from = o.from
		}
		t.metric, t.to = true, o.to
	}
}

func (t *tally) String() string {
	var parts []string
	some := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, figure.Count(n, noun))
		}
	}
	some(t.turns, "turn")
	if t.calls > 0 {
		calls := figure.Count(t.calls, "call")
		if t.errors > 0 {
			calls += fmt.Sprintf(" (%s failed)", figure.Group(t.errors))
		}
		parts = append(parts, calls)
	}
	some(t.reused, "reused result")
	some(t.refused, "refused call")
	some(t.asked, "question to a person or client")
	some(t.doubts, "doubt")
	some(t.failures, "failed model call")
	some(t.rejected, "rejection")
	some(t.hints, "hint")
	some(t.signals, "signal")
	some(t.resumes, "resume")
	if t.metric {
		parts = append(parts, fmt.Sprintf("metric %g → %g", t.from, t.to))
	}
	if t.broke > 0 {
		parts = append(parts, "broke "+figure.Group(t.broke))
	}
	return strings.Join(parts, ", ")
}
