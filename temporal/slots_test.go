package temporal

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Pollers that wait for a task use no slot, tasks do, and a poller waits while all are used.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{most: 1}
		first, err := s.ReserveSlot(t.Context(), nil)
		must(t, err)
		second := s.TryReserveSlot(nil)
		if second == nil {
			t.Fatal("the poller of another agent has no slot")
		}
		s.use(first)
		if s.TryReserveSlot(nil) != nil {
			t.Error("there is a slot while all are used")
		}
		s.release(second) // it got no task
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.ReserveSlot(short, nil); err == nil {
			t.Error("a slot became free that was not used")
		}
		time.AfterFunc(time.Hour, func() { s.release(first) })
		began := time.Now()
		if _, err := s.ReserveSlot(t.Context(), nil); err != nil || time.Since(began) != time.Hour {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
