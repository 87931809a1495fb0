package window_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/window"
)

// TestLongRun: three hundred turns whose results have 3,000 tokens on average
// stay within a window of 32,000, and each request still has the task, what is
// pinned and the call that was made last.
func TestLongRun(t *testing.T) { // Promises: T17.
	const most = 32_000
	for _, o := range []window.Options{{MaxTokens: most}, {MaxTokens: most, Never: true}, {MaxTokens: most, Keep: 20}} {
		synctest.Test(t, func(t *testing.T) {
			m := &meter{trace: traces(t)[12].results, turns: 300, read: simRead, write: simWrite}
			m.seen = func(r pawl.Request) {
				if len(r.Messages) == 0 || !strings.HasPrefix(r.Messages[0].Text(), strings.Repeat("task", simTask)) {
					t.Error("a request does not begin with the task")
				}
				if !strings.Contains(r.System, "- the pinned fact") {
					t.Error("a request lacks what is pinned")
				}
				if n := len(r.Messages); r.Purpose == pawl.PurposeTurn && m.turn > 0 && (n < 3 || !called(r.Messages[n-2], fmt.Sprintf(`{"n":%d}`, m.turn))) {
					t.Errorf("turn %d: the latest call is not shown with its result", m.turn+1)
				}
			}
			a := m.agent(300, 0, window.Compact(&o))
			a.Prompt += window.Pin("the pinned fact")
			a.Model = pawltest.Check(t, m)
			entries := play(t, a)
			if m.most > most || m.turn != 300 {
				t.Errorf("%+v: the largest request has %d tokens, more than %d", o, m.most, most)
			}
			whys := map[string]int{}
			for _, e := range entries {
				if c, ok := e.Event.(pawl.ContextCompacted); ok {
					whys[strings.TrimRight(strings.Split(c.Why, ":")[0], " ")]++
				}
			}
			t.Logf("keep %d, never %v: at most %d tokens, shortened %v, %d summaries", o.Keep, o.Never, m.most, whys, m.made)
		})
	}
}

func called(m pawl.Message, args string) bool {
	for _, p := range m.Parts {
		if c, ok := p.(pawl.Call); ok && string(c.Args) == args {
			return true
		}
	}
	return false
}
