package pawl

import (
	"testing"
	"time"
)

// The failures of each class are counted by themselves, for the agent's model and for a judge.
func TestAttemptsByClass(t *testing.T) {
	for _, purpose := range []Purpose{PurposeTurn, PurposeJudge} {
		m := machines(t)[0]
		s := new(State)
		add := func(event Event) {
			s.Fold(Entry{Run: "r", Seq: s.seq + 1, At: s.seq, Time: time.Unix(1, 0), Iteration: 1, Event: event})
		}
		add(RunStarted{Declaration: m.Declaration()})
		failed := []Class{ClassRateLimit, ClassOverloaded, ClassEmpty, ClassNetwork, ClassCancelled, ClassEmpty, ClassTruncated, ClassUnknown, ClassEmpty}
		for i, class := range failed {
			attempt := i + 1
			add(ModelCalled{Purpose: purpose, Attempt: attempt})
			add(ModelFailed{Purpose: purpose, Class: class, Attempt: attempt})
			_, final := s.Missed(purpose)
			if purpose == PurposeTurn {
				final = class != ClassCancelled && m.spent(s)
			}
			if final != (attempt == len(failed)) {
				t.Errorf("%s: after %d attempts, the last %v, final is %v", purpose, attempt, class, final)
			}
		}
	}
}

// Failures of any classes, in any order, use up a model call's attempts: no
// class lacks a count, and one that is unknown to this build is never transient.
func TestAttemptsEnd(t *testing.T) {
	m := machines(t)[0]
	s := new(State)
	fold := func(event Event) {
		s.Fold(Entry{Run: "r", Seq: s.seq + 1, At: s.seq, Time: time.Unix(1, 0), Iteration: 1, Event: event})
	}
	fold(RunStarted{Declaration: m.Declaration()})
	n := 0
	for class := ClassRateLimit; n == 0 || !m.spent(s); class = class%ClassUnknown + 1 {
		if n++; n > 100 {
			t.Fatal("a model that fails in turn with each class is asked for ever")
		}
		fold(ModelCalled{Purpose: PurposeTurn, Attempt: n})
		fold(ModelFailed{Purpose: PurposeTurn, Class: class, Attempt: n})
	}
	if want := ClassUnknown*2 + ClassEmpty; n != int(want) {
		t.Errorf("%d attempts, want %d: the third empty reply", n, want)
	}
	for _, class := range []Class{0, -1, ClassPanic, ClassCut + 1, 1 << 20} {
		before := s.tries.Total()
		if s.tries.Count(class.tried()); s.tries.Total() != before+1 {
			t.Errorf("class %d is not counted", int(class))
		}
	}
}
