package judge

import (
	"fmt"
	"math"
	"testing"

	"github.com/pawl-run/pawl"
)

// confident judges a tale turn by turn, as the policy does, and returns the
// confidence after each.
func confident(t *testing.T, turns ...func(*tale)) (all []float64) {
	s := begin(t, "go", pawl.ToolInfo{Name: "look", Effect: pawl.Read}, pawl.ToolInfo{Name: "poll", Effect: pawl.Read, Exempt: true})
	for _, turn := range turns {
		turn(s)
		all = append(all, s.reflect())
	}
	return all
}

// reflect records a judgement by rules of what has not been judged.
func (s *tale) reflect() float64 {
	v := gather(&s.state, judgedTurn(&s.state)).judge()
	s.tell(v, pawl.Noted{By: reflexion, Name: "turn", Value: fmt.Append(nil, s.turn)})
	return v.Confidence
}

func look(n int) did {
	return did{tool: "look", args: fmt.Sprintf(`{"n":%d}`, n), result: fmt.Sprint(100 + n)}
}
func fails(n int) did {
	return did{tool: "look", args: fmt.Sprintf(`{"n":%d}`, n), result: "error broken"}
}
func acts(c ...did) func(*tale) { return func(s *tale) { s.act(c...) } }

func near(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

// Confidence reaches any threshold one would set within a plausible run, and its
// gain is diminished once.
func TestConfidenceRises(t *testing.T) { // Promises: L6.
	var turns []func(*tale)
	for n := range 12 {
		turns = append(turns, acts(look(n)))
	}
	got := confident(t, turns...)
	want := confidenceStart
	for n, v := range got {
		if want += rateUp * (1 - want); !near(v, want) {
			t.Errorf("after %d turns: %v, want %v", n+1, v, want)
		}
	}
	if got[3] >= 0.9 || got[4] < 0.9 || got[11] < 0.99 {
		t.Errorf("%v: want 0.9 after the fifth", got)
	}
}

// It is no count: as many successes leave different confidence, depending on
// what else came of the turns.
func TestConfidenceIsNoCount(t *testing.T) {
	for name, c := range map[string]struct {
		turns []func(*tale)
		want  float64
	}{
		"good":                         {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(3))}, 0.8285},
		"one failed in between":        {[]func(*tale){acts(look(1)), acts(look(2)), acts(fails(4)), acts(look(3))}, 0.6171},
		"one failed at the end":        {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(3)), acts(fails(4))}, 0.4971},
		"half of a turn failed":        {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(3), fails(4))}, 0.653},
		"all in one turn":              {[]func(*tale){acts(look(1), look(2), look(3))}, 0.65},
		"the third a repetition":       {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(1))}, 0.453},
		"two in turns":                 {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(1)), acts(look(2)), acts(look(1))}, 0.1631},
		"paging":                       {[]func(*tale){acts(look(1)), acts(look(2)), acts(look(3)), acts(look(4)), acts(look(5))}, 0.916},
		"polling":                      {[]func(*tale){acts(look(1)), acts(did{tool: "poll", args: `{}`, result: `"wait"`}), acts(did{tool: "poll", args: `{}`, result: `"wait"`})}, 0.65},
		"the same, and something else": {[]func(*tale){acts(look(1)), acts(did{tool: "look", args: `{"n":1}`, result: `"changed"`})}, 0.755},
		"a reply rejected": {[]func(*tale){acts(look(1)), func(s *tale) {
			s.turn++
			s.tell(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Malformed: "no JSON", Reply: pawl.Say("hm")})
			for strike := 1; strike <= 3; strike++ {
				s.tell(pawl.PlanRejected{Reasons: []string{"no JSON"}, Feedback: "no", Rejection: strike})
			}
		}}, 0.39},
		"an answer that did not stand": {[]func(*tale){acts(look(1)), func(s *tale) {
			s.say("There are 77.")
			s.tell(pawl.Grounded{Claims: []string{"There are 77."}}, pawl.Noted{By: grounding, Name: "answer", Value: fmt.Appendf(nil, `{"reply":%d,"ok":false}`, s.state.RepliedAt(pawl.PurposeTurn))})
		}}, 0.39},
		"an answer that stands": {[]func(*tale){acts(look(1)), func(s *tale) { s.say("There are 101.") }}, 0.65},
	} {
		got := confident(t, c.turns...)
		if v := got[len(got)-1]; !near(v, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Judged now and then, a run comes to the same as judged each turn.
func TestCadence(t *testing.T) {
	turns := []func(*tale){acts(look(1)), acts(fails(2)), acts(look(3)), acts(look(1)), acts(look(4), fails(5))}
	each := confident(t, turns...)
	s := begin(t, "go")
	for _, turn := range turns {
		turn(s)
	}
	if v := s.reflect(); !near(v, each[len(each)-1]) {
		t.Errorf("at once %v, one by one %v", v, each)
	}
}
