package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

func waiter(args ...string) pawl.Agent {
	var plan [][]pawl.Call
	for _, a := range args {
		plan = append(plan, []pawl.Call{{Tool: "wait", Args: []byte(a)}})
	}
	return pawl.Agent{Name: "waiter", Model: turns(plan...), Tools: []pawl.Tool{tool.Wait(nil)}}
}

// A run that waits survives the death of its process at every entry. The first wait is long enough
// that every process suspends the run, and the other is over when it begins.
func TestWaitKilled(t *testing.T) { // Promises: N12.
	t.Parallel()
	pawltest.KillEverywhere(t, func() pawl.Agent { return waiter(`{"for":"200ms"}`, `{"until":"2020-01-01T00:00:00Z"}`) }, "go", &engine.Options{Approver: pawltest.Person{}})
}

// When the clock was set back, a run that waits neither wakes early nor sleeps for longer than until the
// time that it waits for. When the clock jumps ahead, it wakes.
func TestWaitWhileClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const back = 30 * time.Minute
		agent, j := waiter(`{"for":"1h"}`, `{"for":"10s"}`), newTap()
		wake := time.Now().Add(time.Hour + back)
		ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusPaused)
		j = &tap{Journal: ahead(t, j.Journal, back)}
		for range 3 {
			ends(t, resume(t, engine.New(j, nil), agent), pawl.StatusPaused)
			s, err := engine.Load(t.Context(), j, "r")
			must(t, err)
			if !s.Head().WakeAt.Equal(wake) {
				t.Errorf("it wakes at %v, not %v", s.Head().WakeAt, wake)
			}
			time.Sleep(25 * time.Minute)
		}
		time.Sleep(100 * time.Hour) // nobody was there
		ends(t, resume(t, engine.New(j, nil), agent), pawl.StatusSuccess)
		sound(t, engine.New(j, nil), j, agent, "r")
	})
}

// ahead is a journal with a run that was written while the clock was ahead of what it is now.
func ahead(t *testing.T, from pawl.Journal, by time.Duration) *memory.Journal {
	t.Helper()
	to, s := memory.New(), new(pawl.State)
	l, err := to.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "other", TTL: time.Millisecond, New: true})
	must(t, err)
	for e := range entriesOf(t, from, "r") {
		e.Time = e.Time.Add(by)
		switch ev := e.Event.(type) {
		case pawl.InputRequested:
			ev.WakeAt = ev.WakeAt.Add(by)
			e.Event = ev
		case pawl.RunPaused:
			ev.WakeAt = ev.WakeAt.Add(by)
			e.Event = ev
		}
		s.Fold(e)
		row, err := e.AppendJSON(nil)
		must(t, err)
		must(t, to.Append(t.Context(), pawl.Batch{Run: "r", Epoch: l.Epoch, After: e.Seq - 1, Records: [][]byte{row}, Head: s.Head()}))
	}
	time.Sleep(time.Second)
	return to
}
