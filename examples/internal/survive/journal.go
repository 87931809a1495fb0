package survive

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

var errKilled = errors.New("the process was killed")

// mortal is the journal of a process that dies when the log has a certain number of entries.
// Leases can still be released, since this package does not test what becomes of them.
type mortal struct {
	*memory.Journal
	last   uint64 // the last entry that is written to the log
	acting bool   // the process lives until it tries to append another one

	mu   sync.Mutex
	dead bool
}

// Append writes the entries that fit. If necessary it splits a batch, which no journal does: a
// log must make sense wherever it ends.
func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := b.After + uint64(len(b.Records))
	m.dead = m.dead || end > m.last || end == m.last && !m.acting
	if b.After >= m.last {
		return errKilled
	}
	b.Records = b.Records[:min(end, m.last)-b.After]
	if err := m.Journal.Append(ctx, b); err != nil {
		return err
	}
	if m.dead {
		return errKilled
	}
	return nil
}
