package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// An entry that the log would say otherwise is an error.
func TestVerify(t *testing.T) {
	err := verify(pawl.Entry{Run: "r", Seq: 1, Event: pawl.ToolStarted{Args: json.RawMessage(`{ }`)}})
	if err == nil || !strings.Contains(err.Error(), "entry 1 of run r is not what the log says") {
		t.Error(err)
	}
}
