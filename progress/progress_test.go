package progress_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/tool"
)

// look is a tool that sees the same every time.
var look = tool.Func("look", "Look.", func(context.Context, struct {
	At string `json:"at"`
}) (string, error) {
	return "nothing new", nil
}, pawl.Read)

// stubborn asks for the same call for ever, its keys written one way and the other.
func stubborn(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	args := `{"at":"the door"}`
	if len(r.Messages)%4 == 1 {
		args = `{ "at" : "the door" }`
	}
	return pawl.Do(pawl.Call{Tool: "look", Args: json.RawMessage(args)}), nil
}

func TestNoProgress(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy pawl.Policy
		status pawl.Status
		turns  int
		leaf   string
	}{
		{"by default three repeats end the run", nil, pawl.StatusNoProgress, 4, "stalled(3)"},
		{"the window is the agent's", progress.NoProgress(1, 0, ""), pawl.StatusNoProgress, 2, "stalled(1)"},
		{"a window of zero switches it off", progress.NoProgress(0, 0, ""), pawl.StatusExhausted, 20, "iterations >= 20"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agent := pawl.Agent{Name: "stubborn", Model: pawl.ModelFunc(stubborn), Tools: []pawl.Tool{look}}
			if test.policy != nil {
				agent.Policies = []pawl.Policy{test.policy}
			}
			result, err := engine.Run(t.Context(), agent, "go")
			if err != nil || result.Status != test.status || result.Iterations != test.turns || result.Reason.Leaf != test.leaf {
				t.Errorf("ended as %v after %d turns by %q; want %v, %d, %q: %v",
					result.Status, result.Iterations, result.Reason.Leaf, test.status, test.turns, test.leaf, err)
			}
		})
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for want, p := range map[string]pawl.Policy{
		"no_progress(-1, fail)":   progress.NoProgress(-1, 0, ""),
		"no_progress(3, then(9))": progress.NoProgress(3, 9, ""),
	} {
		agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(stubborn), Policies: []pawl.Policy{p}}
		if _, err := engine.Run(t.Context(), agent, "go"); err == nil || !strings.Contains(err.Error(), want+":") {
			t.Errorf("got %v; want an error that names %s", err, want)
		}
	}
}

// TestStrings holds the texts by which logs and specs name the policy.
func TestStrings(t *testing.T) {
	for want, p := range map[string]pawl.Policy{
		`no_progress(3, fail)`:          progress.NoProgress(3, 0, ""),
		`no_progress(5, hint, "think")`: progress.NoProgress(5, progress.Hint, "think"),
		`no_progress(2, escalate)`:      progress.NoProgress(2, progress.Escalate, ""),
	} {
		if p.String() != want {
			t.Errorf("%s, want %s", p, want)
		}
	}
}

func TestGuardKeepsOnesOwn(t *testing.T) {
	own := pawl.Agent{Policies: []pawl.Policy{progress.NoProgress(7, progress.Fail, "")}}
	if got := progress.Guard(own).Policies; len(got) != 1 || got[0].String() != "no_progress(7, fail)" {
		t.Errorf("got %v; want the agent's own policy alone", got)
	}
	if got := progress.Guard(pawl.Agent{}).Policies; len(got) != 1 || got[0].String() != "no_progress(3, fail)" {
		t.Errorf("got %v; want the default", got)
	}
}
