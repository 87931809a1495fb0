package fakeprovider_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
	"github.com/pawl-run/pawl/tool"
)

// TestBrokenBytes: bytes that are not UTF-8 fail no attempt. Text is repaired,
// which the log says; a call whose arguments had them does not run, though its
// schema would take what they became.
func TestBrokenBytes(t *testing.T) {
	for w := range adapters {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			faults := []string{"broken-arguments", "", "broken-text"}
			r := newRig(t, w, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
				if n <= len(faults) && faults[n-1] != "" {
					return fakeprovider.Must(faults[n-1])
				}
				return fakeprovider.Fault{}
			}})
			var went []string
			r.agent.Tools = []pawl.Tool{tool.Func("go", "Go there.", func(_ context.Context, in struct {
				Place string `json:"place,omitempty"`
			},
			) (string, error) {
				went = append(went, in.Place)
				return "there", nil
			}, pawl.Write)}
			r.think = func(_ context.Context, q pawl.Request) (pawl.Reply, error) {
				for _, m := range q.Messages {
					for _, p := range m.Parts {
						if res, ok := p.(pawl.ToolResult); ok && strings.Contains(res.Text(), "there") {
							return pawl.Say("I am there."), nil
						}
					}
				}
				return pawl.Do(pawl.Call{Tool: "go", Args: json.RawMessage(`{}`)}), nil
			}
			res := r.start(t)
			if res.Status != pawl.StatusSuccess || strings.TrimRight(res.Answer, "\uFFFD") != "I am there." || !strings.HasSuffix(res.Answer, "\uFFFD") {
				t.Errorf("%v: %q", res.Verdict, res.Answer)
			}
			if len(went) != 1 || went[0] != "" {
				t.Errorf("it went to %q", went)
			}
			var repaired []bool
			for e, err := range r.run.Entries(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				switch e := e.Event.(type) {
				case pawl.ModelReplied:
					repaired = append(repaired, e.Reply.Repaired)
				case pawl.ModelFailed:
					t.Errorf("failed: %+v", e)
				case pawl.PlanRejected:
					if !strings.Contains(e.Feedback, "not UTF-8") {
						t.Error(e.Feedback)
					}
				}
			}
			if len(repaired) != 3 || !repaired[0] || repaired[1] || !repaired[2] {
				t.Errorf("repaired: %v", repaired)
			}
		})
	}
}
