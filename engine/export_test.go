package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// BeginClose is the beginning of Close: no run is suspended yet.
func BeginClose(e *Engine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
}

// Suspends reports whether every run that the engine drives has been asked to stop.
func Suspends(e *Engine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.live {
		if _, suspend, _ := d.inbox.wanted(); !suspend {
			return false
		}
	}
	return e.closed
}

// Held is how much of the pools is in use, and how many calls wait.
func Held() (used int64, waiting int) {
	for i := range pools {
		p := &pools[i]
		p.mu.Lock()
		used, waiting = used+p.used, waiting+len(p.queue)
		p.mu.Unlock()
	}
	return used, waiting
}

// An entry that the log would say otherwise is an error.
func TestVerify(t *testing.T) {
	err := verify(pawl.Entry{Run: "r", Seq: 1, Event: pawl.ToolStarted{Args: json.RawMessage(`{ }`)}})
	if err == nil || !strings.Contains(err.Error(), "entry 1 of run r is not what the log says") {
		t.Error(err)
	}
}
