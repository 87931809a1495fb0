package explain_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

// A metric that counts what fails downwards says -0 of nothing, which nobody
// writes: it is recorded as 0, and read as that in logs that have the other.
func TestZeroHasNoSign(t *testing.T) {
	none := math.Copysign(0, -1)
	log := inLab(t, func(l *lab) []pawl.Entry {
		a := one(l, `{text: Look., calls: [{tool: search, args: {q: A}}]}`, search())
		a.Observer = func(context.Context) (pawl.Observation, error) { return pawl.Observation{Text: "looked"}, nil }
		a.Goal = course(pawl.Measured{Value: -1}, pawl.Measured{Value: none}, pawl.Measured{Value: none})
		a.Goal.Success = atMost{-2}
		a.Limits.Iterations = 2
		return l.run(a, "Do it.")
	})
	measured := 0
	for i, e := range log {
		m, ok := e.Event.(pawl.Measured)
		if !ok || m.Value != 0 {
			continue
		}
		if measured++; math.Signbit(m.Value) {
			t.Errorf("entry %d has the sign", e.Seq)
		}
		m.Value = none
		log[i].Event = m
	}
	r, err := explain.Of(sequence(log), &explain.Options{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Markdown(); measured == 0 || strings.Contains(text, " -0") || !strings.Contains(text, "metric is still 0") {
		t.Errorf("of %d measurements it says:\n%s", measured, text)
	}
}

// TestTimeLimitIsExact: a report shows a time limit as it was set.
func TestTimeLimitIsExact(t *testing.T) {
	inLab(t, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Limits.Time = 1250 * time.Millisecond
		log := l.run(a, "Find them all.")
		if text := report(t, log).Markdown(); !strings.Contains(text, " | 1.25s | ") {
			t.Errorf("the limit of 1.25s is not in:\n%s", text)
		}
		return log
	})
	if p := explain.PlanOfDeclaration(planned(nil, 1, func(d *pawl.Declaration) { d.Limits.Time = 1250 * time.Millisecond }), nil); p.Limits.Time != "1.25s" {
		t.Errorf("the plan has a time limit of %s, want 1.25s", p.Limits.Time)
	}
}
