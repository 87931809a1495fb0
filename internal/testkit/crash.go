// Package testkit has the conformance suites, fake servers and transcripts that the tests of Pawl
// use, and what package pawltest shares with them.
package testkit

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

// ErrKilled is the error of a journal whose process is dead.
var ErrKilled = errors.New("the process was killed")

// Mortal is the journal as one process sees it. Once the process is dead
// nothing of it reaches the journal any more, as if it had been killed; what
// it appended before stands.
type Mortal struct {
	*memory.Journal
	// Cut returns how many records of a batch are written, and whether the process dies then.
	// It may split a batch, which no journal does: a log must make sense wherever it ends.
	Cut   func(b pawl.Batch) (n int, dies bool, err error)
	Frees bool // a dead process still gives up leases

	mu   sync.Mutex
	dead bool
}

// Die kills the process.
func (m *Mortal) Die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

// Dead reports whether the process is dead.
func (m *Mortal) Dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// Claim renews and gives up leases only while the process lives.
func (m *Mortal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if !m.Frees && m.Dead() {
		return pawl.Lease{}, ErrKilled
	}
	return m.Journal.Claim(ctx, c)
}

// Append writes what the process lives to write.
func (m *Mortal) Append(ctx context.Context, b pawl.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return ErrKilled
	}
	n, dies, err := m.Cut(b)
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
		err = ErrKilled
	}
	return err
}
