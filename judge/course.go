package judge

import (
	"fmt"
	"math"

	"github.com/pawl-run/pawl"
)

// The rates and the initial value of confidence, see [Reflexion]. With 0.3
// upwards, five good turns take 0.5 to 0.916 and four take it to 0.88: a
// shorter run gives little reason for confidence. With 0.4 downwards, one turn
// of failures takes 0.9 to 0.54, below any useful threshold.
const (
	confidenceStart = 0.5
	rateUp          = 0.3
	rateDown        = 0.4
)

// lookBack is how many previous turns are compared with a turn: two rounds of a
// cycle of four, the longest cycle that stuck detection looks for.
const lookBack = 8

// A leg is one turn to be judged.
type leg struct {
	turn    int
	ok      int
	failed  int
	why     string  // of the first failure
	repeats int     // the earlier turn with the same calls and results; zero: none
	refuted bool    // the turn was an answer that was refuted
	exempt  bool    // the turn is not judged
	goal    float64 // the share of the goal's open items that are closed
}

// A course is the turns of a run that have not been judged yet.
type course struct {
	turn       int // the latest turn
	legs       []leg
	goal       bool
	confidence float64 // before these turns
}

// gather collects the turns after the given one. It costs O(those turns).
func gather(s *pawl.State, after int) *course {
	c := &course{turn: s.Iteration(), confidence: confidenceStart, goal: s.Declaration().Goal != ""}
	if v, ok := s.Confidence(); ok {
		c.confidence = v
	}
	baseline, measured := s.Baseline()
	for turn := after + 1; turn <= c.turn; turn++ {
		c.legs = append(c.legs, leg{turn: turn})
	}
	at := func(turn int) *leg {
		if turn <= after || turn > c.turn {
			return nil
		}
		return &c.legs[turn-after-1]
	}
	for call := range s.Recent() {
		if call.Iteration <= after {
			break
		}
		l := at(call.Iteration)
		switch {
		case l == nil:
		case call.OK():
			l.ok++
		default:
			l.failed++
			l.why = call.Tool + ": " + short(call.Error, 120)
		}
	}
	var tracks []pawl.Track // latest first
	for t := range s.Tracks() {
		if t.Iteration <= after-lookBack {
			break
		}
		tracks = append(tracks, t)
	}
	for i, t := range tracks {
		l := at(t.Iteration)
		if l == nil {
			continue
		}
		l.exempt = t.Answer() || t.Exempt && l.failed == 0
		l.goal = -1
		if t.Measure != nil && measured {
			l.goal = share(len(baseline.Open)-len(t.Measure.Open), len(baseline.Open))
		}
		if t.Calls == 0 {
			continue
		}
		for _, before := range tracks[i+1:] {
			if before.Iteration >= t.Iteration-lookBack && before.Calls != 0 && before.Outcome == t.Outcome {
				l.repeats = before.Iteration
				break
			}
		}
	}
	closed := 0.0
	if measured {
		closed = share(len(baseline.Open)-len(s.StillOpen()), len(baseline.Open))
	}
	for i := len(c.legs) - 1; i >= 0; i-- { // an unmeasured turn counts as leaving the current state
		if l := &c.legs[i]; l.goal < 0 {
			l.goal = closed
		} else {
			closed = l.goal
		}
	}
	if last := c.last(); refuted(s) {
		last.refuted, last.exempt = true, false
	} else if s.RejectedIterations() > 0 && last.ok+last.failed == 0 {
		last.failed, last.exempt, last.why = 1, false, short(s.LastRejection(), 120)
	}
	return c
}

// refuted reports whether the latest turn was an answer that a goal or the
// evidence refuted.
func refuted(s *pawl.State) bool {
	reply, ok := s.Replied(pawl.PurposeTurn)
	if !ok || reply.Stop != pawl.StopEnd || s.RejectedIterations() > 0 {
		return false
	}
	return s.Declaration().Goal != "" || !grounds(s).standing(s)
}

func (c *course) last() *leg { return &c.legs[len(c.legs)-1] }

// score returns the score of a turn, and false if the turn cannot be judged.
func (l *leg) score(goal bool) (float64, bool) {
	v := 0.0
	switch {
	case l.exempt:
		return 0, false
	case l.refuted, l.repeats > 0:
	case l.ok+l.failed > 0:
		v = share(l.ok, l.ok+l.failed)
	default:
		return 0, false
	}
	if goal {
		v = (v + l.goal) / 2
	}
	return v, true
}

// share returns part/whole, clamped to 0 to 1.
func share(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(float64(part)/float64(whole), 0), 1)
}

// judge judges by rules.
func (c *course) judge() pawl.Reflected {
	v := c.confidence
	for i := range c.legs {
		if score, ok := c.legs[i].score(c.goal); ok {
			rate := rateUp
			if score < v {
				rate = rateDown
			}
			v += rate * (score - v)
		}
	}
	last := c.last()
	r := pawl.Reflected{Confidence: math.Round(v*1e4) / 1e4, By: rules}
	switch {
	case last.refuted:
		r.Text = "the answer did not stand"
	case last.repeats > 0:
		r.Text = fmt.Sprintf("turn %d repeated turn %d: the same calls, and the same came of them", last.turn, last.repeats)
		r.Hint = fmt.Sprintf("Your last turn repeated your turn %d: the same calls, and the same came of them. Do something else, or answer with what you have.", last.repeats)
	case last.failed > 0 && last.ok == 0:
		r.Text = "no call of the turn succeeded: " + last.why
		r.Hint = "No call of your last turn succeeded. Find out why from what came back before you try again."
	case last.failed > 0:
		r.Text = fmt.Sprintf("%d of the turn's %d calls failed: %s", last.failed, last.ok+last.failed, last.why)
	case last.ok > 0:
		r.Text = "every call of the turn succeeded"
	default:
		r.Text = "the turn called nothing that can be judged"
	}
	if c.goal {
		r.Text += fmt.Sprintf("; the goal is not met (%.0f%% of what was open is closed)", 100*last.goal)
	}
	return r
}
