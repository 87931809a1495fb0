package window_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
)

// TestWorse: of many approaches that broke something, a summary keeps the
// latest twenty, each once and in a line, and no call that fixed or read.
func TestWorse(t *testing.T) {
	const turns = 60 // every odd one breaks one of 25 tests, the next fixes it
	n, refused := 0, false
	edit := tool.Func("edit", "Edit.", func(_ context.Context, in struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}) (string, error) {
		return "ok", nil
	}, pawl.Write)
	look := tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) { return "well", nil }, pawl.Read)
	entries := play(t, pawl.Agent{
		Name: "worse", Prompt: "Fix it.", Tools: []pawl.Tool{edit, look}, Policies: []pawl.Policy{window.Compact(nil)},
		Limits: pawl.Limits{Iterations: turns + 2, Tokens: 1 << 30},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			if n == turns && !refused {
				refused = true
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassTooLong, Message: "prompt is too long"}
			}
			n++
			args := fmt.Sprintf(`{"n":%d,"text":"%s"}`, n%50, strings.Repeat("x", 1000))
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "edit", Args: json.RawMessage(args)}, pawl.Call{Tool: "look", Args: json.RawMessage(`{}`)}}}, nil
		}),
		Observer: func(context.Context) (pawl.Observation, error) { return pawl.Observation{Text: "seen"}, nil },
		Goal: &pawl.Goal{Success: stop.Metric(">=", 1), Metric: func(context.Context, pawl.Observation) (pawl.Measured, error) {
			m := pawl.Measured{Value: float64(n - turns)}
			if n%2 == 1 && n < turns {
				m.Open = []string{fmt.Sprintf("Test%d", n%50)}
			}
			return m, nil
		}},
	})
	var got []string
	for _, e := range entries {
		if c, ok := e.Event.(pawl.ContextCompacted); ok {
			for line := range strings.Lines(c.Summary) {
				if rest, ok := strings.CutPrefix(line, "- made the goal worse: "); ok {
					got = append(got, strings.TrimSpace(rest))
				}
			}
		}
	}
	var want []int
	for i := 21; i < 60; i += 2 { // 1 to 9 failed again as 51 to 59
		want = append(want, i%50)
	}
	if len(got) != len(want) {
		t.Fatalf("%d approaches, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, line := range got {
		if begin, end := fmt.Sprintf(`edit{"n":%d,`, want[i]), fmt.Sprintf("→ broke Test%d; the metric went from", want[i]); !strings.HasPrefix(line, begin) ||
			!strings.Contains(line, end) || strings.Contains(line, "look") || len(line) > 400 {
			t.Errorf("line %d is %q, want %s … %s", i, line, begin, end)
		}
	}
}
