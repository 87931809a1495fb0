package server_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// What has been answered by a signal that nobody has read yet is said to be, and
// that resuming the run takes it on.
func TestAnsweredNotRead(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "asker")
	at := "/v1/runs/" + run.Run
	if p := run.Pending[0]; p.AnsweredAt != nil {
		t.Fatalf("%+v", p)
	}
	must(t, engine.New(w.journal, nil).Answer(t.Context(), run.Run, run.Pending[0].Call, "ann", "this one"))
	r := w.result(admin, "GET", at, "", 200)
	if p := r.Pending[0]; r.Status != pawl.StatusWaitingInput || p.AnsweredAt == nil || p.AnsweredBy != "ann" || !strings.HasPrefix(r.Action, "pawl resume ") {
		t.Errorf("%+v", r)
	}
	if text := string(w.ask(admin, "GET", at+"/explain", "", 200)); strings.Contains(text, "pawl answer") || !strings.Contains(text, "pawl resume "+run.Run) {
		t.Errorf("%s", text)
	}
	boss := w.begin(admin, "boss")
	p := boss.Pending[0]
	must(t, engine.New(w.journal, nil).Approve(t.Context(), p.Run, p.Call, "ann", nil))
	for _, of := range []string{boss.Run, p.Run} {
		if r := w.result(admin, "GET", "/v1/runs/"+of, "", 200); r.Pending[0].AnsweredBy != "ann" || !strings.HasPrefix(r.Action, "pawl resume ") {
			t.Errorf("%+v", r)
		}
	}
	if r := w.result(admin, "POST", at+"/resume?wait=true", "{}", 200); r.Status != pawl.StatusSuccess || len(r.Pending) != 0 {
		t.Errorf("%+v", r)
	}
}
