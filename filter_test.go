package pawl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A filter that stops a reply is told as such, with the provider's word, and not with the text
// that the model had said by then; what a model refuses itself is told in its own words.
func TestFilteredReply(t *testing.T) {
	m := machines(t)[1]
	for _, c := range []struct{ text, filter, want string }{
		{"Call me Ishmael", "RECITATION", "the provider stopped the reply (RECITATION)"},
		{"", "SAFETY", "the provider stopped the reply (SAFETY)"},
		{"", "\xff" + strings.Repeat("LONG", 4000), ""},
		{"I will not.", "", "the model refused: I will not."},
		{"", "", "the model refused: it did not say why"},
	} {
		s := new(State)
		fold(s, RunStarted{Declaration: m.Declaration()})
		step := m.Decide(s).(Think)
		fold(s, m.Called(step))
		reply := Reply{Stop: StopRefusal, Filter: c.filter, Usage: Usage{Input: 1}}
		if c.text != "" {
			reply.Parts = []Part{Text{c.text}}
		}
		replied, err := m.Replied(s, step, reply)
		must(t, err)
		line, err := Entry{Run: "r", Seq: 3, Event: replied}.AppendJSON(nil)
		if err != nil || strings.Contains(string(line), `"filter":`) != (c.filter != "") {
			t.Errorf("%s, %v", line, err)
		}
		var again Entry
		must(t, json.Unmarshal(line, &again))
		if d := cmp.Diff(replied, again.Event, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-made +read):\n%s", d)
		}
		fold(s, replied)
		end, ok := m.Decide(s).(Finish)
		if got := end.Verdict.Detail; !ok || c.want != "" && got != c.want || len(got) > 4000 {
			t.Errorf("%q, filtered by %.20q: %.80s", c.text, c.filter, got)
		}
	}
}
