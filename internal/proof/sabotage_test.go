//go:build linux || darwin

package proof_test

import (
	"strings"
	"testing"
)

// What is proved must be able to fail: each promise is broken on purpose, by a
// journal that acknowledges what it has not written, a tool that does not
// honour its key, a person who says what is not so, and the proof must see it.
func TestSabotage(t *testing.T) {
	for _, s := range []struct {
		breaks string
		shots  []shot
		seen   string // what the complaint must be about
	}{
		{"late model.replied", []shot{{stop: "after tool pay|1"}}, "effects"},
		{"late tool.finished+tool.started", []shot{{stop: "after tool wire|1"}}, "effects"},
		{"late approval.decided", []shot{{}, {stop: "after tool send|1"}}, "effects"},
		{"late model.called", []shot{{stop: "after model request|1"}}, "on the bill"},
		{"keyless", []shot{{stop: "after tool put|1"}}, "effects"},
		{"lie", []shot{{stop: "after tool pay|1"}}, "effects"},
	} {
		t.Run(s.breaks, func(t *testing.T) {
			t.Parallel()
			c := newCell(t)
			c.sabotage = s.breaks
			c.compare(c.play(s.shots...))
			found := strings.Join(c.faults, "\n")
			if found == "" || !strings.Contains(found, s.seen) {
				t.Errorf("it finds %q, not what is wrong with %s\n%s", found, s.seen, c.log())
			}
		})
	}
}

// A log that does not go on from what it was is found out.
func TestSabotagePrefix(t *testing.T) {
	c := newCell(t)
	c.process("run", shot{})
	c.seen.rows[runID][2] = []byte("something else")
	c.audit()
	if len(c.faults) != 1 || !strings.Contains(c.faults[0], "prefix") {
		t.Errorf("it finds %q", c.faults)
	}
}
