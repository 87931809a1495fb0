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
	// cut returns how many records of a batch are written, and whether the process dies then.
	// It may split a batch, which no journal does: a log must make sense wherever it ends.
	cut   func(b pawl.Batch) (n int, dies bool, err error)
	frees bool // a dead process still gives up leases

	mu   sync.Mutex
	dead bool
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
	if !m.frees && m.isDead() {
		return pawl.Lease{}, errKilled
	}
	return m.Journal.Claim(ctx, c)
}

// Append writes what the process lives to write.
func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	n, dies, err := m.cut(b)
	if err != nil {
		return err
	}
	m.dead = dies
	if n < len(b.Records) { // the head is that of the whole batch
		b.Head.Status, b.Head.Seq, b.Records = pawl.StatusRunning, b.After+uint64(n), b.Records[:n]
	}
	if n > 0 {
		err = m.Journal.Append(ctx, b)
	}
	if err == nil && dies {
		err = errKilled
	}
	return err
}

// deathAt dies before or after the batch that a plan names: before:WHAT or after:WHAT, WHAT a
// seq, a type or leg; empty: it lives.
func deathAt(plan string) func(pawl.Batch) (n int, dies bool, err error) {
	when, what, _ := strings.Cut(plan, ":")
	return func(b pawl.Batch) (n int, dies bool, err error) {
		for _, r := range b.Records {
			e, err := pawl.DecodeEntry(r)
			if err != nil {
				return 0, false, fmt.Errorf("an engine appended what nobody can read: %w", err)
			}
			start, _ := e.Event.(pawl.RunStarted)
			leg := start.Continues != nil && start.Continues.By != ""
			dies = dies || e.Type() == what || strconv.FormatUint(e.Seq, 10) == what || leg && what == "leg"
		}
		if dies && when == "before" {
			return 0, true, nil
		}
		return len(b.Records), dies, nil
	}
}
