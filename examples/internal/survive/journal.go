package survive

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

var errKilled = errors.New("the process was killed")

// mortal is a journal as a process sees it that dies when the log has so many
// entries. Leases can still be given up: what becomes of the lease of a dead
// process is not what is tried here.
type mortal struct {
	*memory.Journal
	last   uint64 // the last entry that reaches the log
	acting bool   // it lives on until it wants to append another one

	mu   sync.Mutex
	dead bool
}

// Append lets through what fits. A batch is cut in two where need be, which no
// journal does: a log has to make sense wherever it ends.
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
