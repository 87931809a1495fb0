package progress

import (
	"cmp"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// turn is a track in the form that the patterns compare.
type turn struct {
	iteration int
	thought   uint64
	outcome   uint64
	fault     uint64
	answer    bool // the turn called nothing
	changed   bool
	measure   *meter.Measure // of the goal after the turn; nil: not measured
	drift     *meter.Measure // of the goal before the next turn, if something else moved it
}

// left returns the goal's measure when the next turn began; nil: unknown.
func (u *turn) left() *meter.Measure { return cmp.Or(u.drift, u.measure) }

// key distinguishes turns by their results. The text of an answer does not
// count, unless the loop asked for it.
func (t *trail) key(i int) uint64 {
	switch u := t.turns[i]; {
	case !u.answer:
		return u.outcome
	case t.foreign:
		return u.thought
	}
	return 0
}

// A trail is the latest turns of a run, the last one first.
type trail struct {
	turns   []turn
	before  *meter.Measure // of the goal, before the first of them
	scale   meter.Scale
	foreign bool // the loop is not ReAct
}

// follow reads at most most turns since the run was last resumed into room, the exempt
// ones too if every is set.
func follow(s *pawl.State, room []turn, most int, every bool) trail {
	t := trail{turns: room[:0]}
	_, measured := s.Metric()
	fresh := s.ResetIterations()
	var later, drift *meter.Measure // of exempt turns, which count for the turn before them
	for track := range s.Tracks() {
		past := track.Iteration <= fresh || len(t.turns) == most
		if past && !measured {
			break
		}
		if drift == nil && later == nil {
			drift = (*meter.Measure)(track.Drift)
		}
		if later == nil {
			later = (*meter.Measure)(track.Measure)
		}
		switch {
		case past && (drift != nil || later != nil):
			t.before = cmp.Or(drift, later)
			return t.in(s, measured)
		case past || track.Exempt && !every:
			continue
		}
		t.turns = append(t.turns, turn{track.Iteration, track.Thought, track.Outcome, track.Fault, track.Answer(), track.Changed, later, drift})
		later, drift = nil, nil
	}
	if base, ok := s.Baseline(); ok {
		t.before = new(meter.Measure(base))
	}
	return t.in(s, measured)
}

// in adds what the declaration says if it matters, since that costs a copy.
func (t trail) in(s *pawl.State, measured bool) trail {
	if measured {
		t.scale = meter.ScaleOf(s.Declaration().Goal)
	}
	if measured || slices.ContainsFunc(t.turns, func(u turn) bool { return u.answer }) {
		t.foreign = s.Head().Loop != pawl.ReAct{}.Name()
	}
	return t
}

// base returns the goal's measure before the last n turns.
func (t *trail) base(n int) *meter.Measure {
	for _, older := range t.turns[n:] {
		if m := older.left(); m != nil {
			return m
		}
	}
	return t.before
}

// gain returns the index, from the latest, of the latest of the last n turns
// that improved the goal over every measure since before them; n: none did.
func (t *trail) gain(n int) int {
	best := t.base(n)
	first, previous, at := best, best, n
	for i := n - 1; i >= 0; i-- {
		if m := t.turns[i].measure; m != nil {
			switch {
			case best == nil:
				first, best = m, m
			case t.scale.Compare(*m, *best) > 0 || uncovers(first, previous, m):
				best, at = m, i
			}
			previous = m
		}
		if m := t.turns[i].drift; m != nil { // the later turns are compared with the drift
			best, previous = m, m
			first = cmp.Or(first, m)
		}
	}
	return at
}

// uncovers reports whether a measure names faults that another fault hid in the
// measure before, and that existed at first. A run that breaks the build and
// fixes it has gained nothing.
func uncovers(first, before, now *meter.Measure) bool {
	if len(now.Open) <= len(before.Open) {
		return false
	}
	fixed, _, shown := meter.Moved(before.Open, now.Open)
	return len(shown) > 0 && len(meter.Apart(fixed, first.Open)) < len(fixed)
}
