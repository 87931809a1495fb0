package progress

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

const firstHint = "You have made the same calls with the same results several times. Do something different: another tool, other arguments, or answer with what you have."

// first decides as machine 1 did, which detected only exact repeats. It replays
// and continues the runs of that machine.
func (p noProgress) first(s *pawl.State, step pawl.Step) pawl.Step {
	if s.Stalled() < p.window {
		return step
	}
	judged, _ := s.Judged()
	found := judged.Judgement == pawl.JudgedRepeating && judged.Streak == s.Stalled()
	switch {
	case p.then == Hint && judged.Judgement != pawl.JudgedHinted && !found:
		hint := p.hint
		hint = cmp.Or(hint, firstHint)
		return pawl.Record{Events: []pawl.Event{pawl.ProgressJudged{
			Judgement: pawl.JudgedHinted, Detail: firstDetail(s), Streak: s.Stalled(), Hint: hint}}}
	case p.then == Hint && judged.Judgement == pawl.JudgedHinted && judged.Streak == s.Stalled():
		return step // the model has not had a turn with the hint
	case !found:
		return pawl.Record{Events: []pawl.Event{pawl.ProgressJudged{
			Judgement: pawl.JudgedRepeating, Detail: firstDetail(s), Streak: s.Stalled()}}}
	case p.then == Escalate:
		return pawl.Record{Events: []pawl.Event{pawl.InputRequested{
			Call: fmt.Sprintf("q_%d", s.Seq()), Question: firstDetail(s) + ". How should it go on?"}}}
	}
	leaf := fmt.Sprintf("stalled(%d)", p.window)
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusNoProgress, Condition: leaf, Leaf: leaf, Detail: firstDetail(s)}}
}

func firstDetail(s *pawl.State) string {
	what := "the last turn"
	for c := range s.Recent() {
		what = c.Tool + firstArgs(c.Args)
		break
	}
	return fmt.Sprintf("%s was repeated %d times with the same outcome", what, s.Stalled())
}

func firstArgs(args json.RawMessage) string {
	const most = 120
	if len(args) > most {
		return "(" + strings.ToValidUTF8(string(args[:most]), "") + "…)"
	}
	return "(" + string(args) + ")"
}
