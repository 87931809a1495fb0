package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// hookFunc is a hook made of a function.
type hookFunc func(s *pawl.State, e pawl.Entry) engine.Direction

func (hookFunc) Name() string { return "picky" }

func (f hookFunc) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	return f(s, e)
}

// recorded returns the lines of a run's log.
func recorded(t *testing.T, j pawl.Journal) (lines [][]byte) {
	t.Helper()
	for row, err := range j.Read(t.Context(), "r", 1) {
		must(t, err)
		lines = append(lines, row.Data)
	}
	return lines
}

// cut is a journal whose log ends early, as its writer's death left it.
func cut(t *testing.T, lines [][]byte) *memory.Journal {
	t.Helper()
	j := memory.New()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Hour, New: true})
	if err == nil {
		err = j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: lease.Epoch, Records: lines})
	}
	if err == nil {
		_, err = j.Claim(t.Context(), pawl.Claim{Run: "r", Epoch: lease.Epoch})
	}
	must(t, err)
	return j
}
