package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

// A decision is recorded once, goes on with the run, and another one is told of it.
func TestDecide(t *testing.T) { // Promises: D5.
	w := serve(t, nil)
	run := w.begin(admin, "payer")
	if len(run.Pending) != 1 || run.Pending[0].Token == "" {
		t.Fatalf("who waited is not given the token: %+v", run.Pending)
	}
	at := "/v1/runs/" + run.Run
	if r := w.result(admin, "GET", at, "", 200); r.Pending[0].Token != "" {
		t.Error("who looks is given the token")
	}
	w.refused(admin, "POST", at+"/calls/c_1/approve", `{"args":{"eur":"few"}}`, 422, "do not fit")
	w.refused(admin, "POST", at+"/calls/c_1/approve", `{"token":"wrong"}`, 422, "token")
	w.refused(admin, "POST", at+"/calls/c_1/approve", `{"scope":"world"}`, 422, "scope")
	w.refused(admin, "POST", at+"/calls/c_1/approve", `{"scope":"run","free":["nobody"],"times":2}`, 422, "no argument nobody")
	w.refused(admin, "POST", at+"/calls/c_9/approve", `{}`, 422, "no call c_9")
	w.refused(admin, "POST", at+"/calls/c_1/answer", `{"text":"x"}`, 422, "c_1")
	w.refused(admin, "POST", at+"/calls/c_1/settle", `{}`, 422, "either")
	w.refused(admin, "POST", at+"/calls/c_1/settle", `{"happened":1,"did_not_happen":true}`, 422, "either")
	w.refused(admin, "POST", at+"/calls/c_1/answer", `{"text":""}`, 422, "text is missing")
	w.refused(admin, "POST", at+"/calls/c_1/submit", `{}`, 422, "result is missing")
	w.refused(reader, "POST", at+"/calls/c_1/approve", `{}`, 403, "scope")

	decision := fmt.Sprintf(`{"token":%q,"args":{"eur":7},"scope":"run","free":["eur"],"times":3,"by":"eve"}`, run.Pending[0].Token)
	r := w.result(admin, "POST", at+"/calls/c_1/approve?wait=true", decision, 200)
	if r.Status != pawl.StatusSuccess || r.Run != run.Run {
		t.Errorf("%+v", r)
	}
	if r := w.result(admin, "POST", at+"/calls/c_1/approve", decision, 200); r.Status != pawl.StatusSuccess {
		t.Error("the same again is not the same")
	}
	w.refused(admin, "POST", at+"/calls/c_1/deny", `{}`, 409, "already given by eve")
	if log := string(w.ask(admin, "GET", at+"/events", "", 200)); !strings.Contains(log, `"free":["eur"],"times":3`) || !strings.Contains(log, `"by":"eve"`) || !strings.Contains(log, `"scope":"run"`) || !strings.Contains(log, `"paid 7"`) {
		t.Error(log)
	}

	permissions := func(method, path string) (all client.Permissions) {
		must(t, json.Unmarshal(w.ask(admin, method, path, "", 200), &all))
		return all
	}
	all := permissions("GET", "/v1/approvals").Permissions
	if len(all) != 1 || all[0].By != "eve" || all[0].Run != run.Run {
		t.Fatalf("%+v", all)
	}
	w.refused(reader, "DELETE", "/v1/approvals/"+all[0].ID, "", 403, "scope")
	w.refused(admin, "DELETE", "/v1/approvals/p_1", "", 404, "there is no permission p_1")
	if left := permissions("DELETE", "/v1/approvals/"+all[0].ID+"?by=bob"); len(left.Permissions) != 0 {
		t.Errorf("%+v", left)
	}
	if all := permissions("GET", "/v1/approvals?all=true").Permissions; len(all) != 1 || all[0].RevokedBy != "bob" {
		t.Errorf("%+v", all)
	}
}

// One call of a run is cancelled by who may cancel runs, and the run goes on.
func TestCancelCall(t *testing.T) {
	w := serve(t, nil)
	run := w.result(admin, "POST", "/v1/runs", `{"agent":"holder","input":"go"}`, 201).Run
	for !strings.Contains(string(w.ask(admin, "GET", "/v1/runs/"+run+"/events", "", 200)), "tool.started") {
		time.Sleep(5 * time.Millisecond)
	}
	at := "/v1/runs/" + run + "/calls/c_1/cancel"
	w.refused(reader, "POST", at, `{}`, 403, "scope")
	w.refused(admin, "POST", "/v1/runs/"+run+"/calls/c_9/cancel", `{}`, 422, "no call c_9")
	w.result(runner, "POST", at+"?wait=true", `{"reason":"too slow"}`, 200)
	if r := w.until(run, pawl.StatusSuccess); r.Steps[0].Calls[0].Status != "cancelled" || r.Answer != "held" {
		t.Errorf("%+v", r)
	}
	w.refused(admin, "POST", at, `{}`, 422, "is over")
	if log := string(w.ask(admin, "GET", "/v1/runs/"+run+"/events", "", 200)); !strings.Contains(log, "it was cancelled by ron: too slow") {
		t.Error(log)
	}
}

// What a run was told before changes nothing, nor what else it waits for.
func TestToldAgain(t *testing.T) {
	w := serve(t, nil)
	twice := w.agents["payer"]
	twice.Model = script.Replies(pawl.Do(
		pawl.Call{Tool: "pay", Args: json.RawMessage(`{"eur":1}`)}, pawl.Call{Tool: "pay", Args: json.RawMessage(`{"eur":2}`)},
	), pawl.Say("paid"))
	w.agents["payer"] = twice
	run := w.begin(admin, "payer")
	at := "/v1/runs/" + run.Run + "/calls/"
	if len(run.Pending) != 2 {
		t.Fatalf("%+v", run.Pending)
	}
	token := fmt.Sprintf(`{"token":%q}`, run.Pending[1].Token)
	for range 2 {
		if r := w.result(admin, "POST", at+"c_1/approve?wait=true", `{}`, 200); r.Status != pawl.StatusWaitingApproval || len(r.Pending) != 1 {
			t.Fatalf("%+v", r)
		}
	}
	if log := string(w.ask(admin, "GET", "/v1/runs/"+run.Run+"/events", "", 200)); strings.Contains(log, "approval.expired") {
		t.Error("what the run still waits for is asked again")
	}
	if r := w.result(admin, "POST", at+"c_2/approve?wait=true", token, 200); r.Status != pawl.StatusSuccess {
		t.Errorf("%+v", r)
	}
}

// Whose key it is decides who has decided, whatever the request says.
func TestDecidedBy(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(acme, "payer")
	w.result(acme, "POST", "/v1/runs/"+run.Run+"/calls/c_1/deny?wait=true", `{"reason":"too dear","by":"the boss"}`, 200)
	log := string(w.ask(acme, "GET", "/v1/runs/"+run.Run+"/events", "", 200))
	if !strings.Contains(log, `"by":"ann"`) || strings.Contains(log, "the boss") || !strings.Contains(log, "too dear") {
		t.Error(log)
	}
}

// Questions are answered, results handed in, and the run goes on by itself.
func TestAnswer(t *testing.T) { // Promises: D3.
	w := serve(t, nil)
	asker := w.begin(admin, "asker")
	r := w.result(admin, "POST", "/v1/runs/"+asker.Run+"/calls/c_1/answer", `{"text":"the blue one"}`, 200)
	if r.Run != asker.Run {
		t.Errorf("%+v", r)
	}
	if r := w.until(asker.Run, pawl.StatusSuccess); r.Answer != "thanks" {
		t.Errorf("%+v", r)
	}
	picker := w.begin(admin, "picker")
	if r := w.result(admin, "POST", "/v1/runs/"+picker.Run+"/calls/c_1/submit?wait=true", `{"result":null}`, 200); r.Status != pawl.StatusSuccess {
		t.Errorf("%+v", r)
	}
}

// A call of a child is decided through the run that it descends from, or its own;
// what goes on is the former.
func TestChildren(t *testing.T) {
	w := serve(t, nil)
	for _, through := range []string{"root", "child"} {
		boss := w.begin(admin, "boss")
		if boss.Status != pawl.StatusWaitingApproval || len(boss.Pending) != 1 || boss.Pending[0].Run == boss.Run {
			t.Fatalf("%+v", boss)
		}
		at := map[string]string{"root": boss.Run, "child": boss.Pending[0].Run}[through]
		w.refused(admin, "POST", "/v1/runs/"+boss.Pending[0].Run+"/resume", `{"limits":{"iterations":"+5"}}`, 409, "is a child of run")
		r := w.result(admin, "POST", "/v1/runs/"+at+"/calls/c_1/approve?wait=true", `{}`, 200)
		if r.Run != boss.Run || r.Status != pawl.StatusSuccess || r.Answer != "all paid" {
			t.Errorf("through the %s: %+v", through, r)
		}
	}
}

// A run goes on with more where it may, and what hinders it is told.
func TestResume(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "looper")
	if run.Status != pawl.StatusExhausted {
		t.Fatal(run.Status)
	}
	at := "/v1/runs/" + run.Run
	w.refused(admin, "POST", at+"/resume", `{"limits":{"cost":"+1"}}`, 422, "no price")
	w.refused(admin, "POST", at+"/resume", `{"limits":{"iterations":"+99999"}}`, 422, "the most is 10000")
	w.refused(admin, "POST", at+"/resume", `{"limits":{"iterations":1}}`, 422, "would end at once with these limits: iterations >= 1")
	w.refused(admin, "POST", at+"/fork", `{"at":5,"limits":{"iterations":1}}`, 422, "would end at once with these limits: iterations >= 1")
	w.changed = true
	w.refused(admin, "POST", at+"/resume", `{}`, 409, "prompt changed")
	w.changed = false
	if r := w.result(admin, "POST", at+"/resume?wait=true", `{"limits":{"iterations":"+5"}}`, 200); r.Status != pawl.StatusSuccess || r.Answer != "seen" {
		t.Errorf("%+v", r)
	}
	w.refused(admin, "POST", at+"/resume", "", 409, "has succeeded")
	w.refused(admin, "POST", at+"/cancel", "", 409, "is over")

	payer := w.begin(admin, "payer")
	w.changed = true
	w.refused(admin, "POST", "/v1/runs/"+payer.Run+"/calls/c_1/approve", `{}`, 409, "which cannot resume")
	w.changed = false
	if r := w.result(admin, "POST", "/v1/runs/"+payer.Run+"/calls/c_1/approve?wait=true", `{}`, 200); r.Status != pawl.StatusSuccess {
		t.Errorf("saying it again does not go on: %v", r.Status)
	}
	lost := w.begin(admin, "payer")
	delete(w.agents, "payer")
	w.refused(admin, "POST", "/v1/runs/"+lost.Run+"/resume", `{}`, 409, "pawl resume "+lost.Run)
}

// A run with another owner is left to that owner, which gets the signal.
func TestHeld(t *testing.T) {
	w := serve(t, nil)
	elsewhere := engine.New(w.journal, nil)
	defer elsewhere.Close()
	h, err := elsewhere.Start(t.Context(), w.agents["holder"], "x", nil)
	must(t, err)
	at := "/v1/runs/" + h.ID()
	w.refused(admin, "POST", at+"/resume", `{}`, 409, "is being driven by process")
	if r := w.result(admin, "POST", at+"/cancel", `{"reason":"enough"}`, 200); r.Run != h.ID() {
		t.Errorf("%+v", r)
	}
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusCancelled {
		t.Errorf("%v, %v", r.Status, err)
	}
}

// A run is cancelled where it is driven, and where it waits.
func TestCancel(t *testing.T) { // Promises: L12.
	w := serve(t, nil)
	run := w.result(admin, "POST", "/v1/runs", `{"agent":"holder","input":"x"}`, 201)
	w.refused(admin, "POST", "/v1/runs/"+run.Run+"/resume", `{}`, 409, "is being driven")
	if r := w.result(admin, "POST", "/v1/runs/"+run.Run+"/cancel?wait=true", `{"reason":"enough"}`, 200); r.Status != pawl.StatusCancelled || !strings.Contains(r.Reason.Detail, "enough") {
		t.Errorf("%+v", r)
	}
	parked := w.begin(admin, "payer")
	if r := w.result(admin, "POST", "/v1/runs/"+parked.Run+"/cancel", "", 200); r.Status != pawl.StatusCancelled {
		t.Errorf("%+v", r)
	}
	w.refused(admin, "POST", "/v1/runs/"+parked.Run+"/cancel", "", 409, "is over: cancelled")
	if r := w.result(admin, "POST", "/v1/runs/"+parked.Run+"/resume?wait=true", "", 200); r.Status != pawl.StatusWaitingApproval || r.Pending[0].Token == "" {
		t.Errorf("%+v", r)
	}
}

// A message reaches a run that waits, once it goes on, and none that is over.
func TestSay(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(acme, "payer")
	at := "/v1/runs/" + run.Run + "/messages"
	w.refused(acme, "POST", at, `{"text":" "}`, 422, "text is empty")
	if r := w.result(acme, "POST", at, `{"text":"be quick"}`, 200); r.Status != pawl.StatusWaitingApproval {
		t.Errorf("%+v", r)
	}
	p := run.Pending[0]
	w.result(acme, "POST", "/v1/runs/"+run.Run+"/calls/"+p.Call+"/approve?wait=true", `{"token":"`+p.Token+`"}`, 200)
	if log := string(w.ask(acme, "GET", "/v1/runs/"+run.Run+"/events", "", 200)); strings.Count(log, `"text":"be quick","by":"ann"`) != 1 {
		t.Error(log)
	}
	w.refused(acme, "POST", at, `{"text":"too late"}`, 409, "is over")
}

// A fork is a run of its own, visible to those who see the first.
func TestFork(t *testing.T) { // Promises: N2.
	w := serve(t, nil)
	run := w.begin(acme, "payer")
	at := "/v1/runs/" + run.Run + "/fork"
	for body, words := range map[string]string{
		`{"at":0}`: "at is missing", `{"at":1000}`: "has no entry 1000", `{"at":2}`: "in flight", `{"at":1,"limits":{"time":"x"}}`: "time",
	} {
		w.refused(acme, "POST", at, body, 422, words)
	}
	fork := w.result(acme, "POST", at+"?wait=true", `{"at":1,"input":"and be quick"}`, 201)
	if fork.Run == run.Run || fork.Status != pawl.StatusWaitingApproval || fork.Labels["tenant"] != "acme" || fork.Pending[0].Token == "" {
		t.Errorf("%+v", fork)
	}
	w.ask(acme, "GET", "/v1/runs/"+fork.Run, "", 200)
	w.refused(acme, "POST", at, `{"at":1,"labels":{"a=b":"c"}}`, 422, "without =")
	w.refused(acme, "POST", at, `{"at":1,"labels":{"tenant":"else"}}`, 422, "runs of this token have the label tenant=acme; leave out tenant=else")
	other := w.result(acme, "POST", at+"?wait=true", `{"at":1,"labels":{"tenant":"acme","why":"again"}}`, 201)
	if diff := cmp.Diff(map[string]string{"tenant": "acme", "why": "again"}, other.Labels); diff != "" {
		t.Error(diff)
	}
	boss := w.begin(acme, "boss")
	child := boss.Pending[0].Run
	w.refused(acme, "POST", "/v1/runs/"+child+"/fork", `{"at":1}`, 409, "fork run")
	if r := w.result(admin, "POST", "/v1/runs/"+child+"/fork?wait=true", `{"at":1}`, 201); strings.HasPrefix(r.Run, boss.Run) {
		t.Errorf("%+v", r)
	}
}

// A fork with a changed agent needs the scope of a person who decides.
func TestForkChanged(t *testing.T) {
	w := serve(t, nil)
	run := w.result(runner, "POST", "/v1/runs?wait=true", `{"agent":"looper","input":"look"}`, 201)
	for _, body := range []string{`{"at":5,"prompt":"Look well."}`, `{"at":5,"model":"x/y"}`} {
		w.refused(runner, "POST", "/v1/runs/"+run.Run+"/fork", body, 403, `use a token with the scope "decide"`)
	}
	run = w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"looper","input":"look"}`, 201)
	fork := w.result(acme, "POST", "/v1/runs/"+run.Run+"/fork?wait=true", `{"at":1,"prompt":"Look well.","by":"somebody"}`, 201)
	if text := string(w.ask(acme, "GET", "/v1/runs/"+fork.Run+"/events", "", 200)); !strings.Contains(text, `"prompt":"Look well."`) || !strings.Contains(text, `"by":"ann"`) {
		t.Error(text)
	}
}

// A server that is started again goes on with what is asked for, and not before.
func TestGoOn(t *testing.T) {
	w := serve(t, nil)
	run := w.result(admin, "POST", "/v1/runs", `{"agent":"holder","input":"x"}`, 201)
	must(t, w.server.Close())
	w.refused(admin, "POST", "/v1/runs", `{"agent":"calm","input":"x"}`, http.StatusServiceUnavailable, "closing")
	next, err := server.New(w.journal, w, keys, nil)
	must(t, err)
	defer next.Close()
	if r := w.result(admin, "GET", "/v1/runs/"+run.Run, "", 200); r.Status != pawl.StatusPaused {
		t.Errorf("%v", r.Status)
	}
	close(w.release)
	must(t, next.GoOn(t.Context(), run.Run))
	w.until(run.Run, pawl.StatusSuccess)
	if err := next.GoOn(t.Context(), run.Run); err == nil || !strings.Contains(err.Error(), "has succeeded") {
		t.Error(err)
	}
}
