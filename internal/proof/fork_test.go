//go:build linux || darwin

package proof_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// forked goes on from the end of the second turn as another run, and returns
// what that did and what its model was shown.
func (c *cell) forked(t *testing.T, id string) (list []string) {
	t.Helper()
	j, err := open(c.dir)
	must(t, err)
	defer func() { _ = j.Close() }()
	var at uint64
	for e, err := range engine.Entries(context.Background(), j, runID, 1) {
		must(t, err)
		if _, finished := e.Event.(pawl.ToolFinished); finished && e.Iteration == 2 {
			at = e.Seq
		}
	}
	e := newEngine(j)
	w := world{dir: c.dir}
	h, err := e.Fork(t.Context(), w.agent(), runID, at, &engine.ForkOptions{ID: id})
	for err == nil {
		var res pawl.Result
		if res, err = h.Wait(t.Context()); err != nil {
			break
		}
		if res.Status == pawl.StatusSuccess {
			list = append(list, res.Answer)
			break
		}
		if len(res.Pending) == 0 {
			t.Fatalf("the fork comes to %v", res.Verdict)
		}
		for _, p := range res.Pending {
			must(t, w.give(e, p))
		}
		h, err = e.Resume(t.Context(), w.agent(), id, nil)
	}
	must(t, err)
	for _, l := range c.notes("bill") {
		if l[billRun] == id {
			list = append(list, l[billTurn]+" "+l[billShown])
		}
	}
	for _, l := range c.notes("ledger") {
		if l[ledgerRun] == id && l[ledgerTool] != "look" && l[ledgerTool] != "put" { // which stand beside others
			list = append(list, l[ledgerCall]+" "+l[ledgerTool])
		}
	}
	return list
}

// TestFork goes on from one entry of a run that was killed twice, and from the
// same of one that nobody disturbed: all three go the same way.
func TestFork(t *testing.T) {
	calm, killed := newCell(t), newCell(t)
	calm.compare(calm.play())
	killed.compare(killed.play(shot{stop: "after model request|2"}, shot{stop: "after tool put|1"}))
	calm.complain(t)
	killed.complain(t)
	want := calm.forked(t, "f")
	if len(want) < 10 {
		t.Errorf("the fork did little: %q", want)
	}
	for _, id := range []string{"g", "h"} {
		if diff := cmp.Diff(want, killed.forked(t, id)); diff != "" {
			t.Errorf("a fork of the killed run (-of the undisturbed +of it):\n%s", diff)
		}
	}
}
