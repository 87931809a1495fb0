package mcpserver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
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

// A server knows what its clients wait for, even if it is started again, and returns it once.
// After that the same call is a new one.
func TestApproval(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := serve(t)
		c := w.connect(t, nil)
		again := func(args string) (text, run string, failed bool) {
			t.Helper()
			if restart {
				w.restart(t)
				c = w.connect(t, nil)
			}
			return call(t, c, "pay", args)
		}
		text, run, failed := again(`{"n":1}`)
		if !failed || run == "" || !strings.Contains(text, "pawl approve "+run+" c_1") || w.paid.Load() != 0 {
			t.Fatalf("%s", text)
		}
		if text, same, failed := again(`{ "n": 1 }`); !failed || same != run || !strings.Contains(text, "waits for approval") {
			t.Errorf("%s: %s", same, text)
		}
		if _, other, _ := again(`{"n":2}`); other == run {
			t.Error("another call waits with the same run")
		}
		must(t, w.engine.Approve(t.Context(), run, "c_1", "ann", nil))
		if text, same, failed := again(`{"n":1}`); failed || same != run || text != "paid" || w.paid.Load() != 1 {
			t.Errorf("%s: %s, paid %d times", same, text, w.paid.Load())
		}
		if _, next, failed := again(`{"n":1}`); !failed || next == run || w.paid.Load() != 1 {
			t.Error("an approval was used twice")
		}
	}
}

// Somebody else may go on with the run, even while there is no server; the client gets its
// result all the same, once.
func TestApprovedElsewhere(t *testing.T) {
	w := serve(t)
	for i := range 4 {
		approve, restart := i%2 == 0, i/2 == 0
		_, run, _ := call(t, w.connect(t, nil), "pay", `{"n":3}`)
		var want string
		var err error
		if approve {
			want, err = "paid", w.engine.Approve(t.Context(), run, "c_1", "", nil)
		} else {
			want, err = "too dear", w.engine.Deny(t.Context(), run, "c_1", "", "too dear", nil)
		}
		must(t, err)
		again, err := runs.Calling(w.agent, "pay")
		must(t, err)
		h, err := w.engine.Resume(t.Context(), again, run, nil)
		must(t, err)
		<-h.Done()
		if restart {
			w.restart(t)
		}
		text, same, failed := call(t, w.connect(t, nil), "pay", `{"n":3}`)
		if same != run || failed == approve || !strings.Contains(text, want) {
			t.Errorf("%s: %s", same, text)
		}
		if restart {
			w.restart(t)
		}
	}
	if w.paid.Load() != 2 {
		t.Errorf("paid %d times", w.paid.Load())
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

// Repeating a call that ended at once makes a new call, on any server. One that waits for a time
// goes on after that.
func TestStartedAgain(t *testing.T) {
	for name, args := range map[string]string{"double": `{"n":1}`, "wait": `{"for":"2m"}`} {
		synctest.Test(t, func(t *testing.T) {
			w := serve(t)
			_, run, _ := call(t, w.connect(t, nil), name, args)
			w.restart(t)
			time.Sleep(2 * time.Minute)
			if text, next, failed := call(t, w.connect(t, nil), name, args); failed || (next == run) != (name == "wait") {
				t.Errorf("%s after %s: %s", next, run, text)
			}
		})
	}
}
