package pawl

import (
	"cmp"
	"iter"
	"slices"

	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// progress is what the run has seen of the world and how far it has come. Decide reads the places of
// observations and actions, conditions and policies the measures, the tracks and the confidence.
type progress struct {
	look            *look  // the latest observation; nil: there is none
	acted           uint64 // seq of the latest thing that may have changed the world
	resumed         uint64 // seq of the latest resumption
	resetIterations int    // turns that were over at the last reset
	turns           []Turn
	trail           []Track         // of the turns before the one that ended last; the first may stand for the time before all turns
	track           Track           // of that one, which may still be measured
	judged          *ProgressJudged // nil: nobody has
	confidence      *float64        // nil: nobody has said
	idle            int             // entries in a row that only remember something
}

// look is an observation with what the goal was measured at.
type look struct {
	Observed
	seq      uint64
	same     bool           // the run did nothing between it and the look before
	known    *meter.Measure // the latest, perhaps of an earlier look; nil: there is none
	measured bool           // no look since failed
	blind    int            // looks in a row that failed, up to this one
}

// measure is what the goal was measured at; nil: it could not be.
func (l *look) measure() *meter.Measure {
	if l.measured {
		return l.known
	}
	return nil
}

// seen is the latest look; the zero look: there is none. It must not be changed.
func (s *State) seen() *look { return cmp.Or(s.look, &noLook) }

var noLook look

func (s *State) foldProgress(event Event) {
	switch e := event.(type) {
	case Observed:
		s.see(&e)
	case Measured:
		s.measure(&e)
	case Reflected:
		s.confidence = new(min(max(e.Confidence, 0), 1))
		s.talk.Bytes += s.size(e.Hint)
	case Grounded:
		s.talk.Bytes += s.size(e.Hint)
		if !e.OK {
			s.refute()
		}
	case ProgressJudged:
		s.judged = &e
		s.talk.Bytes += s.size(e.Hint)
		if e.Judgement == JudgedRefuted {
			s.refute()
		}
	}
}

// idle counts the events in a row in which the machine only remembers or sees something.
func idle(event Event, before int) int {
	switch e := event.(type) {
	case Noted:
		if e.Given() {
			return before
		}
	case ProgressJudged, Reflected, Grounded, CausesFound, ContextCompacted, Observed, Measured:
	default:
		return 0
	}
	return before + 1
}

func (s *State) see(e *Observed) {
	now, before := look{Observed: *e, seq: s.seq}, s.seen()
	now.same, now.known, now.measured = before.seq > s.acted, before.known, before.measured && !e.Failed
	if e.Failed {
		now.blind = before.blind + 1
	}
	s.look = &now
	s.talk.Bytes += s.size(e.Text) + s.around()
}

func (s *State) measure(e *Measured) {
	now := *s.seen()
	now.known, now.measured = (*meter.Measure)(e), true
	s.look = &now
	switch {
	case s.HasOpen() && (!now.same || s.ran()): // the turn is not over
	case now.same && s.track.Iteration > 0:
		s.track.Drift = e
	default: // it belongs to the action before it, or to the time before all turns
		s.track.Measure = e
	}
}

// trackOf is the track of a turn that has just ended.
func (s *State) trackOf(turn []*call) Track {
	t := Track{Iteration: s.iteration, Thought: s.thought(), Exempt: true, inRow: s.counts(s.lastAct())}
	sums, ok, failed := wire.NewTurn(), false, 0
	for _, c := range turn {
		switch {
		case c.OK():
			ok = true
			t.Changed = t.Changed || c.Ran && c.Effect > Read
		case !c.NotRun:
			failed = 1
		}
		if !s.declared().tool(c.Tool).Exempt {
			t.Exempt = false
			sums.Add(c.Tool, c.Args, byte(c.Status), c.Result, c.Error, !c.OK() && !c.NotRun && !ok)
		}
	}
	if !t.Exempt {
		t.Calls, t.Outcome = uint64(sums.Did), uint64(sums.All)
	}
	if sums.Fault != wire.NewSum && !ok {
		t.Fault = uint64(sums.Fault)
	}
	if t.errors += failed; ok {
		t.errors = 0
	}
	switch {
	case t.Exempt:
	case t.Outcome == t.last:
		t.stalled++
	default:
		t.stalled, t.last = 0, t.Outcome
	}
	return t
}

// leave keeps a turn's track. A turn that is closed again leaves another.
func (s *State) leave(t Track) {
	if s.track.Iteration != t.Iteration && (s.track.Iteration > 0 || s.track.Measure != nil) {
		s.trail = append(s.trail, s.track)
	}
	s.track = t
}

// A Turn is one model turn that is over.
type Turn struct {
	Iteration int
	Thought   string // the text of the reply, or its thinking when there is no text
	Answer    bool   // it called nothing
}

// said is the thought without the call that the JSON strategy puts beside it.
func (t *Turn) said(by Strategy) string {
	if by == StrategyJSON {
		return wire.Thought(t.Thought)
	}
	return t.Thought
}

// A Track describes one finished turn by digests, which suffice to tell whether a run repeats
// itself. Zero is the digest of nothing. Calls of exempt tools do not count.
type Track struct {
	Iteration int
	Thought   uint64    // the text of the reply, or its thinking
	Calls     uint64    // the tools and their canonical arguments
	Outcome   uint64    // the calls and their results
	Fault     uint64    // the tools and what went wrong with them, when no call succeeded; numbers and quoted words apart
	Exempt    bool      // it called exempt tools only
	Changed   bool      // a call that is no Read succeeded
	Measure   *Measured // the goal after it, before the next turn; nil: not measured
	Drift     *Measured // the goal when measured again, the run having done nothing since; nil: it was not

	inRow
}

// inRow counts turns with calls in a row.
type inRow struct {
	last    uint64 // Outcome of the latest that was not exempt
	errors  int    // in which no call succeeded
	stalled int    // that repeated the one before
}

// Answer reports whether the turn called nothing.
func (t Track) Answer() bool { return t.Calls == 0 && !t.Exempt }

// ToolErrors counts the latest turns in a row in which no call succeeded.
func (s *State) ToolErrors() int { return s.counts(s.lastAct()).errors }

// Stalled counts the latest turns in a row that made the same calls with the
// same results as the turn before. Calls of exempt tools do not count.
func (s *State) Stalled() int { return s.counts(s.lastAct()).stalled }

// lastAct is the track of the latest turn that made calls and is over; the zero Track: there is none.
func (s *State) lastAct() Track {
	for i := len(s.trail); i >= 0; i-- {
		t := &s.track
		if i < len(s.trail) {
			t = &s.trail[i]
		}
		open := t.Iteration == s.iteration && !s.settled // a hook has it run again
		if !open && !t.Answer() {
			return *t
		}
	}
	return Track{}
}

// counts is what counts in a row up to a turn, since the run was reset.
func (s *State) counts(t Track) inRow {
	if t.Iteration <= s.resetIterations {
		return inRow{last: t.last}
	}
	return t.inRow
}

// ResetIterations is how many turns were over when a person last resumed the
// run or answered its own question. Repetitions count from there.
func (s *State) ResetIterations() int { return s.resetIterations }

// Confidence returns the latest confidence, between 0 and 1, and whether there is one.
func (s *State) Confidence() (float64, bool) { return value(s.confidence) }

// Metric is the goal's latest value, and whether it could be measured since.
func (s *State) Metric() (float64, bool) {
	m, _ := value(s.seen().known)
	return m.Value, s.seen().measured
}

// StillOpen names what the goal's latest measure found wrong.
func (s *State) StillOpen() []string {
	m, _ := value(s.seen().known)
	return slices.Clone(m.Open)
}

// Seen is the text of the latest observation.
func (s *State) Seen() string { return s.seen().Text }

// Turns yields the turns so far, in order.
func (s *State) Turns() iter.Seq[Turn] { return slices.Values(s.turns) }

// Tracks yields the digests of the finished turns, latest first.
func (s *State) Tracks() iter.Seq[Track] {
	trail, last := s.trail, s.track
	return func(yield func(Track) bool) {
		for i := len(trail); i >= 0; i-- {
			t := last
			if i < len(trail) {
				t = trail[i]
			}
			t.Measure, t.Drift = t.Measure.clone(), t.Drift.clone()
			if t.Iteration > 0 && !yield(t) { // else it is the time before all turns
				return
			}
		}
	}
}

// Baseline is the goal as it was measured before the first turn was over, and
// whether it was.
func (s *State) Baseline() (Measured, bool) { return value(s.baseline().clone()) }

func (s *State) baseline() *Measured {
	first := &s.track
	if len(s.trail) > 0 {
		first = &s.trail[0]
	}
	if first.Iteration > 0 {
		return nil
	}
	return first.Measure
}

// Judged is the latest judgement of progress.
func (s *State) Judged() (ProgressJudged, bool) { return value(s.judged) }
