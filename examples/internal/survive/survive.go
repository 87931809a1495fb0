// Package survive tests that a loop has the guarantees of the built-in ones: it can be killed at
// every entry of its log and continues to the same end, no tool acts twice, every step can be
// decided again, and a report explains the run.
package survive

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
)

const run = "run"

// An outcome must be the same however often a run was killed.
type outcome struct {
	Status     pawl.Status
	Verdict    pawl.Verdict
	Answer     string
	Iterations int
	Steps      []pawl.Summary
	Effects    map[string]int
}

// Kills runs an agent on an input undisturbed, and returns the log. Then, for every entry of that
// log, it runs the agent again, kills the process there, and resumes the run in another engine.
// build makes the agent, whose tools act on the given world. Its model and tools must depend only
// on their arguments.
func Kills(t *testing.T, input string, build func(*World) pawl.Agent) []pawl.Entry {
	t.Helper()
	w := &World{}
	j := memory.New()
	result, err := begin(t.Context(), j, build(w), input)
	if err != nil {
		t.Fatal(err)
	}
	want := check(t, j, build(w), result, w)
	var log []pawl.Entry
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	for _, e := range log[:len(log)-1] {
		for _, acting := range []bool{false, true} {
			name := fmt.Sprintf("killed after %d %s", e.Seq, e.Type())
			if acting {
				name += " and what it led to"
			}
			t.Run(name, func(t *testing.T) {
				w, j := &World{}, memory.New()
				if _, err := begin(t.Context(), &mortal{Journal: j, last: e.Seq, acting: acting}, build(w), input); err == nil {
					t.Fatal("the process lived on")
				}
				got := check(t, j, build(w), resume(t, j, build(w), w), w)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("it came out differently (-undisturbed +killed):\n%s", diff)
				}
			})
		}
	}
	return log
}

// options retry failed model calls at once.
var options = &engine.Options{Backoff: func(int) time.Duration { return 0 }}

func begin(ctx context.Context, j pawl.Journal, agent pawl.Agent, input string) (pawl.Result, error) {
	h, err := engine.New(j, options).Start(ctx, agent, input, &engine.StartOptions{ID: run})
	if err != nil {
		return pawl.Result{}, err
	}
	return h.Wait(ctx)
}

// resume resumes a run until it ends. It resolves a Write with an unknown outcome by looking at the
// world.
func resume(t *testing.T, j pawl.Journal, agent pawl.Agent, w *World) pawl.Result {
	t.Helper()
	e := engine.New(j, options)
	for {
		h, err := e.Resume(t.Context(), agent, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := h.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != pawl.StatusWaitingDoubt {
			return result
		}
		s, err := engine.Load(t.Context(), j, run)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range result.Pending {
			c, _ := s.Call(p.Call)
			if was, ok := w.result(c.Key); ok {
				err = e.Resolve(t.Context(), run, p.Call, "test", engine.Resolution{Happened: was})
			} else {
				err = e.Resolve(t.Context(), run, p.Call, "test", engine.Resolution{DidNotHappen: true})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// check replays, explains and summarises a run that is over.
func check(t *testing.T, j pawl.Journal, agent pawl.Agent, r pawl.Result, w *World) outcome {
	t.Helper()
	if steps, err := engine.New(j, nil).Replay(t.Context(), agent, run); err != nil || steps == 0 {
		t.Errorf("replay: %d steps agree, then: %v", steps, err)
	}
	report, err := explain.Of(engine.Entries(t.Context(), j, run, 1), nil)
	if err != nil {
		t.Errorf("explain: %v", err)
	}
	if n := len(report.Decisions); n < 3 || report.Decisions[n-1].Step != "finish" {
		t.Errorf("the report has %d decisions, which do not lead to the end", n)
	}
	return outcome{r.Status, r.Verdict, r.Answer, r.Iterations, r.Steps, w.tally()}
}
