package temporal

import (
	"context"
	"sync"

	"go.temporal.io/sdk/worker"
)

// slots are how many runs a worker drives at once, whatever their agents. Those of the SDK
// count a poller that waits for a task, so that one agent's pollers would keep those of
// another from asking. These count tasks: when all are in use, nobody polls. Pollers that
// were waiting then may get one more each, which Drive sends back.
type slots struct {
	most int

	mu    sync.Mutex
	used  int
	freed chan struct{} // closed when a slot becomes free; nil: nobody waits
}

// ReserveSlot returns when a slot is free.
func (s *slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		s.mu.Lock()
		if s.used < s.most {
			s.mu.Unlock()
			return &worker.SlotPermit{UserData: new(bool)}, nil
		}
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryReserveSlot returns nil if no slot is free.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.most {
		return nil
	}
	return &worker.SlotPermit{UserData: new(bool)}
}

// MarkSlotUsed counts a task.
func (s *slots) MarkSlotUsed(i worker.SlotMarkUsedInfo) { s.use(i.Permit()) }

func (s *slots) use(p *worker.SlotPermit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*p.UserData.(*bool) = true
	s.used++
}

// ReleaseSlot frees the slot of a task that is done.
func (s *slots) ReleaseSlot(i worker.SlotReleaseInfo) { s.release(i.Permit()) }

func (s *slots) release(p *worker.SlotPermit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if used := p.UserData.(*bool); *used {
		*used = false
		s.used--
	}
	if s.freed != nil && s.used < s.most {
		close(s.freed)
		s.freed = nil
	}
}

// MaxSlots is how many there are.
func (s *slots) MaxSlots() int { return s.most }
