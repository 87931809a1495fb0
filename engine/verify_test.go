package engine

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// TestVerify: what the log would not say is named.
func TestVerify(t *testing.T) {
	for want, event := range map[string]pawl.Event{
		"Event.Args (json.RawMessage) differs":                pawl.ToolStarted{Args: json.RawMessage(`{ }`)},
		"Event.Duration (time.Duration) differs":              pawl.ToolFinished{Duration: 1},
		"Event.Reply.Parts[1].Args (json.RawMessage) differs": pawl.ModelReplied{Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "a"}, pawl.Call{ID: "c_1", Args: json.RawMessage("1 ")}}}},
		"Event.Changed.Prompt (string) differs":               pawl.RunResumed{Changed: &pawl.Declaration{Prompt: "\xff"}},
		"a number must be finite":                             pawl.Measured{Value: math.NaN()},
	} {
		if err := verify(pawl.Entry{Run: "r", Seq: 1, Event: event}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}
