package pawltest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

var errKilled = errors.New("the process was killed")

// mortal is the journal as one process sees it. Once the process is dead
// nothing of it reaches the journal any more, as if it had been killed; what
// it appended before stands.
type mortal struct {
	*memory.Journal

	mu   sync.Mutex
	dead bool
	plan string // before:WHAT or after:WHAT, WHAT a seq, a type or leg; empty: it lives
}

// die kills the process.
func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// Claim renews and gives up leases only while the process lives.
func (m *mortal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if m.isDead() {
		return pawl.Lease{}, errKilled
	}
	return m.Journal.Claim(ctx, c)
}

// Append dies before or after the batch that the plan names.
func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	when, what, planned := strings.Cut(m.plan, ":")
	hit := false
	for _, r := range b.Records {
		e, err := pawl.DecodeEntry(r)
		if err != nil {
			return fmt.Errorf("an engine appended what nobody can read: %w", err)
		}
		start, _ := e.Event.(pawl.RunStarted)
		leg := start.Continues != nil && start.Continues.By != ""
		hit = hit || planned && (e.Type() == what || strconv.FormatUint(e.Seq, 10) == what || leg && what == "leg")
	}
	m.dead = hit
	if hit && when == "before" {
		return errKilled
	}
	if err := m.Journal.Append(ctx, b); err != nil {
		return err
	}
	if hit {
		return errKilled
	}
	return nil
}
