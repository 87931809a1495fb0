package explain_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/model/script"
)

// A trace has every call of every reply, rejected ones too, and
// shows neither secrets nor endless results.
func TestTrace(t *testing.T) { // Promises: H7.
	look := tool("look", pawl.Read, func(_ context.Context, a map[string]any) (string, error) {
		return `"` + strings.Repeat(a["q"].(string), 3000) + `"`, nil
	})
	look.Input = json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"api_key":{"type":"string"}}}`)
	do := func(args string) pawl.Call { return pawl.Call{Tool: "look", Args: json.RawMessage(args)} }
	a := pawl.Agent{
		Name: "a", Tools: []pawl.Tool{look}, Trace: true, ResultKey: "key",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "fly", Args: json.RawMessage(`{}`)}),
			pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Both."}, do(`{"q":"ab","api_key":"s3cr3tvalue"}`), do(`{"q":""}`)}},
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "hm"}, do(`{"q":5}`), do(`{"q":"c"}`)}},
			pawl.Say("Done, password=hunter2hunter2"),
		),
	}
	log := inLab(t, func(l *lab) []pawl.Entry { return l.run(a, "go") })
	r, err := explain.ResultOf(sequence(log))
	if err != nil || r.Context["@key"].Confidence != 1 || !strings.Contains(string(r.Context["@key"].Answer), "hunter2") {
		t.Fatalf("%+v, %v", r, err)
	}
	var lines []string
	for _, one := range r.Trace {
		seen := string(one.Observation)
		if len(seen) > 5000 {
			t.Errorf("an observation has %d bytes", len(seen))
		}
		if len(seen) > 60 {
			seen = seen[:60]
		}
		success := "failed"
		if one.Success {
			success = "ok"
		}
		if one.Timestamp.IsZero() {
			t.Error("there is no time")
		}
		lines = append(lines, strings.Join([]string{string(rune('0' + one.Iteration)), one.Thought, one.Action, string(one.ActionInput), seen, success}, "|"))
	}
	want := []string{
		`1||fly|{}|"there is no tool \"fly\"; there are look"|failed`,
		`1|Both.|look|{"q":"ab","api_key":"[redacted]"}|"` + strings.Repeat("ab", 29) + `a|ok`,
		`1|Both.|look|{"q":""}|""|ok`,
		`2|hm|look|{"q":5}|"invalid arguments: /q: value must be a string, got the numb|failed`,
		`2|hm|look|{"q":"c"}|"` + strings.Repeat("c", 59) + `|ok`,
		`3|Done, password=[redacted]||||ok`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}

	a.Trace, a.ResultKey = false, ""
	log = inLab(t, func(l *lab) []pawl.Entry { return l.run(a, "go") })
	r, err = explain.ResultOf(sequence(log))
	b, _ := json.Marshal(r)
	if err != nil || strings.Contains(string(b), `"trace"`) || strings.Contains(string(b), `"context"`) {
		t.Errorf("%s, %v", b, err)
	}
}
