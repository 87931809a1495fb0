package mcpserver

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/tool"
)

// restart replaces the world's server, as when a client starts it again.
func (w *world) restart(t *testing.T) {
	t.Helper()
	w.server.Close()
	var err error
	if w.server, err = New(w.engine, w.journal, w.agent, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Close)
}

// A restarted server knows what its clients wait for and returns it once. After that
// the same call is a new one.
func TestStartedAgain(t *testing.T) {
	w := serve(t)
	_, run, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`)
	if !failed {
		t.Fatal("it did not wait")
	}
	w.restart(t)
	if text, again, _ := call(t, w.connect(t, nil), "pay", `{"n":1}`); again != run || !strings.Contains(text, "waits for approval") {
		t.Errorf("%s: %s", again, text)
	}
	w.restart(t)
	if _, other, _ := call(t, w.connect(t, nil), "pay", `{"n":2}`); other == run {
		t.Error("another call waits with the same run")
	}
	if err := w.engine.Approve(t.Context(), run, "c_1", "", nil); err != nil {
		t.Fatal(err)
	}
	w.restart(t)
	if text, again, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`); failed || again != run || text != "paid" || w.paid.Load() != 1 {
		t.Errorf("%s: %s, paid %d times", again, text, w.paid.Load())
	}
	w.restart(t)
	if _, next, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`); !failed || next == run || w.paid.Load() != 1 {
		t.Error("a result was given twice")
	}
}

// The run may have come to its end while there was no server.
func TestEndedMeanwhile(t *testing.T) {
	w := serve(t)
	_, run, _ := call(t, w.connect(t, nil), "pay", `{"n":1}`)
	again, err := runs.Calling(w.agent, "pay", runs.MCPClient)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Approve(t.Context(), run, "c_1", "", nil); err != nil {
		t.Fatal(err)
	}
	h, err := w.engine.Resume(t.Context(), again, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-h.Done()
	w.restart(t)
	if text, same, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`); failed || same != run || text != "paid" {
		t.Errorf("%s: %s", same, text)
	}
	w.restart(t)
	if _, next, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`); !failed || next == run || w.paid.Load() != 1 {
		t.Error("a result was given twice")
	}
}

// The note that a result was given is nothing to a run that goes on.
func TestCollectedIsResumed(t *testing.T) {
	w := serve(t)
	_, run, _ := call(t, w.connect(t, nil), "clerk", `{"input":"for ever"}`)
	for _, want := range []bool{true, false} {
		if first, err := w.server.collect(t.Context(), run); err != nil || first != want {
			t.Errorf("first: %v, %v", first, err)
		}
	}
	h, err := w.engine.Resume(t.Context(), w.agent, run, &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusExhausted || r.Iterations != 5 {
		t.Errorf("%v after %d iterations: %v", r.Status, r.Iterations, err)
	}
	if n, err := w.engine.Replay(t.Context(), w.agent, run); err != nil || n == 0 {
		t.Errorf("%d steps: %v", n, err)
	}
}

// What waits for another agent than is served now is not this one's.
func TestStartedAgainAsAnother(t *testing.T) {
	w := serve(t)
	_, run, _ := call(t, w.connect(t, nil), "pay", `{"n":1}`)
	w.agent.Tools = append([]pawl.Tool{}, w.agent.Tools...)
	w.agent.Tools[0] = tool.Client("double", "Something else.", nil, nil)
	w.restart(t)
	if text, next, failed := call(t, w.connect(t, nil), "pay", `{"n":1}`); !failed || next == run || !strings.Contains(text, "waits for approval") {
		t.Errorf("%s: %s", next, text)
	}
}

// Repeating a call that ended at once makes a new call, on any server.
func TestStartedAgainWithoutWaiting(t *testing.T) {
	w := serve(t)
	_, run, _ := call(t, w.connect(t, nil), "double", `{"n":1}`)
	w.restart(t)
	if _, next, failed := call(t, w.connect(t, nil), "double", `{"n":1}`); failed || next == run {
		t.Errorf("%s after %s", next, run)
	}
}
