package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

type closing struct {
	To     string `json:"to"`
	Status string `json:"status"`
	Note   string `json:"note"`
}

// closer makes calls in turn, each of which a gate holds.
func closer(calls ...string) pawl.Agent {
	var replies []pawl.Reply
	for _, args := range calls {
		replies = append(replies, pawl.Do(pawl.Call{Tool: "close", Args: json.RawMessage(args)}))
	}
	do := func(context.Context, closing) (string, error) { return "closed", nil }
	return pawl.Agent{
		Name: "closer", Model: script.Replies(append(replies, pawl.Say("done"))...),
		Tools:    []pawl.Tool{tool.FuncWith("close", "Closes.", do, pawl.Write, &tool.Options{Reaches: []string{"to"}})},
		Policies: []pawl.Policy{approval.For("close")},
	}
}

// TestSuchCalls: an approval for the run covers calls with the same fixed arguments, so many
// times and no more.
func TestSuchCalls(t *testing.T) {
	call := func(to, status, note string) string {
		return fmt.Sprintf(`{"to":%q,"status":%q,"note":%q}`, to, status, note)
	}
	calls := []string{call("ann", "done", "1"), call("ann", "done", "2"), call("ann", "done", "3"), call("ann", "done", "4"), call("ann", "open", "1"), call("bob", "done", "1")}
	for name, c := range map[string]struct {
		reach approval.Reach
		asked string
	}{
		"once":               {approval.Reach{}, "c_1 c_2 c_3 c_4 c_5 c_6"},
		"equal calls":        {approval.Reach{Scope: "run"}, "c_1 c_2 c_3 c_4 c_5 c_6"},
		"any note, twice":    {approval.Reach{Scope: "run", Free: []string{"note"}, Times: 2}, "c_1 c_4 c_5 c_6"},
		"any note":           {approval.Reach{Scope: "run", Free: []string{"note"}, Times: 9}, "c_1 c_5 c_6"},
		"any note, status":   {approval.Reach{Scope: "run", Free: []string{"status", "note"}, Times: 9}, "c_1 c_6"},
		"any note, one more": {approval.Reach{Scope: "run", Free: []string{"note"}, Times: 1}, "c_1 c_3 c_5 c_6"},
	} {
		var asked []string
		a := closer(calls...)
		e := engine.New(memory.New(), &engine.Options{Approver: engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
			asked = append(asked, r.Call)
			return engine.Decision{Approve: true, Reach: c.reach}, nil
		})})
		h, err := e.Start(t.Context(), a, "go", nil)
		must(t, err)
		r, err := h.Wait(t.Context())
		if got := strings.Join(asked, " "); err != nil || r.Status != pawl.StatusSuccess || got != c.asked {
			t.Errorf("%s: %v %v, asked about %s, want %s", name, r.Status, err, got, c.asked)
		}
		replays(t, e, a, r.Run)
		e.Close()
	}
}

// TestSuchCallsRefused: an approval that would cover too much is refused, and the call waits.
func TestSuchCallsRefused(t *testing.T) {
	for want, o := range map[string]approval.Reach{
		"to says where a call of close goes":       {Scope: "run", Free: []string{"to"}, Times: 3},
		"needs the number of calls":                {Scope: "run", Free: []string{"note"}},
		"are about later calls":                    {Free: []string{"note"}, Times: 3},
		"no argument notes (did you mean note?)":   {Scope: "run", Free: []string{"notes"}, Times: 3},
		"the number of calls that it is for: at l": {Scope: "run", Times: -1},
	} {
		e := engine.New(stored{memory.New()}, nil)
		h, err := e.Start(t.Context(), closer(`{"to":"ann","status":"done","note":"1"}`), "go", nil)
		must(t, err)
		r, err := h.Wait(t.Context())
		if err != nil || r.Status != pawl.StatusWaitingApproval {
			t.Fatal(r.Status, err)
		}
		if err := e.Approve(t.Context(), r.Run, "c_1", "ann", &engine.ApproveOptions{Reach: o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		e.Close()
	}
}
