package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// looking looks at other places in turns, and is then done.
func looking(turnsOf int) pawl.Agent {
	type place struct {
		N int `json:"n"`
	}
	var plan [][]pawl.Call
	for n := range turnsOf {
		plan = append(plan, []pawl.Call{{Tool: "look", Args: fmt.Appendf(nil, `{"n":%d}`, n)}})
	}
	look := tool.Func("look", "Looks.", func(context.Context, place) (string, error) { return "ok", nil }, pawl.Read)
	return pawl.Agent{Name: "looking", Model: turns(plan...), Tools: []pawl.Tool{look}}
}

// A notice of a limit is given once, however often the process dies.
func TestNoticeKilled(t *testing.T) {
	t.Parallel()
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		agent := looking(4)
		agent.Limits, agent.Notices = pawl.Limits{Iterations: 5}, true
		return agent
	}, "go", nil)
	given := 0
	for _, e := range log {
		if n, is := e.Event.(pawl.NoticeGiven); is && n.About == "iterations" && n.Told {
			given++
		}
	}
	if given != 1 {
		t.Errorf("there are %d notices", given)
	}
}

// From four fifths of a budget on, the next run has the notice of it before its first turn, which
// replaying takes as given. No other run has it, unless the budget was raised.
func TestBudgetNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		e := engine.New(j, &engine.Options{Budgets: perDay(5, false)})      // ten runs of half a cent
		raised := engine.New(j, &engine.Options{Budgets: perDay(6, false)}) // of which most is spent, too
		agent := costing("a")
		agent.Notices = true
		for i := range 12 {
			if i == 10 {
				e = raised
			}
			h := begun(t, e, agent, "acme")
			if r := ended(t, h); r.Status != pawl.StatusSuccess {
				t.Fatalf("run %d is %v: %s", i, r.Status, r.Reason.Detail)
			}
			given := events[pawl.NoticeGiven](t, j, h.ID())
			if want := i == 8 || i == 10; want != (len(given) == 1) {
				t.Errorf("run %d has the notices %+v", i, given)
			}
			for _, n := range given {
				if !n.Given() || !n.Told || !strings.HasSuffix(n.Text, "00 of the budget of tenant=acme per day are spent.") {
					t.Errorf("the notice is %+v", n)
				}
			}
			replays(t, e, agent, h.ID())
		}
	})
}

// Instructions reach the model when they change, at the end of what was sent before, and once,
// however often the process dies. An error is noted, and the earlier instructions hold.
func TestInstructions(t *testing.T) {
	t.Parallel()
	build := func() pawl.Agent {
		agent := looking(4)
		agent.Instruct = func(_ context.Context, s *pawl.State) (string, error) {
			switch turn := s.Iterations() + 1; turn {
			case 1, 2:
				return "Refunds are frozen.", nil
			case 3:
				return "", errors.New("no network")
			default:
				return "Refunds are open.", nil
			}
		}
		return agent
	}
	var got []string
	for _, e := range pawltest.KillEverywhere(t, build, "go", nil) {
		switch e := e.Event.(type) {
		case pawl.InstructionsGiven:
			got = append(got, e.Text)
		case pawl.NoticeGiven:
			got = append(got, e.About+": "+e.Text)
		case pawl.ModelCalled:
			got = append(got, "turn")
		}
	}
	want := []string{"Refunds are frozen.", "turn", "turn", "instructions: The instructions of the moment could not be computed: no network. The earlier ones hold.",
		"turn", "Refunds are open.", "turn", "turn"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Instructions that take too long are not waited for.
func TestInstructionsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := looking(1)
		agent.Instruct = func(ctx context.Context, s *pawl.State) (string, error) {
			if s.Iterations() == 0 {
				return "Be brief.", nil
			}
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		j := newTap()
		ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusSuccess)
		given := events[pawl.NoticeGiven](t, j, "r")
		if len(given) != 1 || !strings.Contains(given[0].Text, "nothing was returned within 30s") {
			t.Errorf("%+v", given)
		}
		if all := events[pawl.InstructionsGiven](t, j, "r"); len(all) != 1 {
			t.Errorf("%+v", all)
		}
		sound(t, engine.New(j, nil), j, agent, "r")
	})
}
