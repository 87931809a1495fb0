package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

// linkOf is the link to what a run waits for first.
func linkOf(r pawl.Result) client.Link {
	p := r.Pending[0]
	return client.Link{Run: p.Run, Call: p.Call, Token: p.Token}
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// look is what a link asks.
func (w *world) look(l client.Link) (r client.LinkedRequest) {
	w.t.Helper()
	must(w.t, json.Unmarshal(w.ask("", "POST", "/v1/approvals/lookup", jsonOf(l), 200), &r))
	return r
}

func decide(l client.Link, approve bool, reason string) string {
	return jsonOf(client.DecideLink{Link: l, Approve: &approve, Reason: reason})
}

// The holder of a link sees the request and decides once; the same decision again
// changes nothing, and another decision is refused.
func TestLink(t *testing.T) { // Promises: T9.
	w := serve(t, nil)
	l := linkOf(w.begin(admin, "payer"))
	r := w.look(l)
	if r.State != "open" || r.Tool != "pay" || r.Agent != "payer" || string(r.Args) != `{"eur":500}` || r.Reason == "" || r.ExpiresAt == nil || r.By != "" {
		t.Errorf("%+v", r)
	}
	data := w.ask("", "POST", "/v1/approvals", decide(l, true, ""), 200)
	if !strings.Contains(string(data), `"state":"approved"`) || strings.Contains(string(data), l.Token) {
		t.Errorf("%s", data)
	}
	if end := w.until(l.Run, pawl.StatusSuccess); end.Answer != "paid" {
		t.Errorf("%+v", end)
	}
	w.ask("", "POST", "/v1/approvals", decide(l, true, ""), 200)
	w.refused("", "POST", "/v1/approvals", decide(l, false, ""), 409, "the request was already approved by approval link")
	if r := w.look(l); r.State != "approved" || r.By != "approval link" {
		t.Errorf("%+v", r)
	}
	if strings.Contains(w.log.String(), l.Token) {
		t.Error("the log has the token")
	}
}

func TestLinkDenies(t *testing.T) {
	w := serve(t, nil)
	l := linkOf(w.begin(admin, "payer"))
	no := false
	w.ask("", "POST", "/v1/approvals", jsonOf(client.DecideLink{Link: l, Approve: &no, Reason: "too much", By: "ann"}), 200)
	w.until(l.Run, pawl.StatusSuccess)
	w.refused("", "POST", "/v1/approvals", decide(l, true, ""), 409, "the request was already denied by ann (approval link)")
	if log := w.ask(admin, "GET", "/v1/runs/"+l.Run+"/events", "", 200); !bytes.Contains(log, []byte("too much")) {
		t.Errorf("the model is not told why: %s", log)
	}
}

// A link that is not whole, or that somebody made up, says nothing of any run, and
// gives no right to anything else.
func TestForgedLinks(t *testing.T) {
	w := serve(t, nil)
	l := linkOf(w.begin(admin, "payer"))
	second := linkOf(w.begin(admin, "payer"))
	bodies := map[string]bool{}
	for _, forged := range []client.Link{
		{}, {Run: l.Run, Call: l.Call}, {Run: l.Run, Call: l.Call, Token: l.Token + "x"}, {Run: l.Run, Call: l.Call, Token: l.Token[:10]},
		{Run: l.Run, Call: "c_9", Token: l.Token}, {Run: "nobody", Call: l.Call, Token: l.Token}, {Run: second.Run, Call: l.Call, Token: l.Token},
		{Run: l.Run + "\x00", Call: l.Call, Token: l.Token}, {Run: l.Run[:8], Call: l.Call, Token: l.Token},
		{Run: strings.Repeat("a", 5000), Call: l.Call, Token: l.Token},
	} {
		bodies[string(w.ask("", "POST", "/v1/approvals/lookup", jsonOf(forged), 404))] = true
		w.ask("", "POST", "/v1/approvals", decide(forged, true, ""), 404)
	}
	if len(bodies) != 1 {
		t.Errorf("what is wrong with a link can be told apart: %v", bodies)
	}
	w.refused("", "POST", "/v1/approvals", jsonOf(l), 422, "approve is missing")
	for _, path := range []string{"/v1/runs/" + l.Run, "/v1/runs"} {
		w.ask("", "GET", path, "", 401)
		w.ask(l.Token, "GET", path, "", 401)
	}
	w.ask("", "POST", "/v1/runs/"+l.Run+"/calls/"+l.Call+"/approve", `{"token":"`+l.Token+`"}`, 401)
	if w.look(l).State != "open" {
		t.Error("it is decided")
	}
}

// A link that has had its time says so: it expired, what it relied on changed, it
// was asked again, somebody else decided without a resume, or the run has ended.
func TestStaleLinks(t *testing.T) {
	w := serve(t, nil)
	old := linkOf(w.begin(admin, "payer"))
	again := w.result(admin, "POST", "/v1/runs/"+old.Run+"/resume?wait=true", "{}", 200)
	fresh := linkOf(again)
	if old.Token == fresh.Token {
		t.Fatal("it is not asked again")
	}
	if r := w.look(old); r.State != "replaced" {
		t.Errorf("%+v", r)
	}
	w.refused("", "POST", "/v1/approvals", decide(old, true, ""), 409, "replaced")
	w.ask(admin, "POST", "/v1/runs/"+fresh.Run+"/cancel", "{}", 200)
	if r := w.look(fresh); r.State != "over" {
		t.Errorf("%+v", r)
	}
	w.refused("", "POST", "/v1/approvals", decide(fresh, true, ""), 409, "ended")

	l := linkOf(w.begin(admin, "payer"))
	must(t, engine.New(w.journal, nil).Approve(t.Context(), l.Run, l.Call, "ada", nil))
	if r := w.look(l); r.State != "approved" || r.By != "ada" {
		t.Errorf("%+v", r)
	}
	w.refused("", "POST", "/v1/approvals", decide(l, false, ""), 409, "by ada")

	short := w.agents["payer"]
	short.Approvals.TTL = time.Millisecond
	w.agents["payer"] = short
	late := linkOf(w.begin(admin, "payer"))
	time.Sleep(5 * time.Millisecond)
	if r := w.look(late); r.State != "expired" {
		t.Errorf("%+v", r)
	}
	w.refused("", "POST", "/v1/approvals", decide(late, true, ""), 409, "the request has expired")
}

// A child's call has a link of its own; the run that waits for the child goes on.
func TestLinkOfAChild(t *testing.T) {
	w := serve(t, nil)
	boss := w.begin(admin, "boss")
	l := linkOf(boss)
	if l.Run == boss.Run || l.Token == "" {
		t.Fatalf("%+v", boss.Pending)
	}
	w.ask("", "POST", "/v1/approvals", decide(l, true, ""), 200)
	if end := w.until(boss.Run, pawl.StatusSuccess); end.Answer != "all paid" {
		t.Errorf("%+v", end)
	}
}

// Who has nothing but links is held down.
func TestLinksAreLimited(t *testing.T) {
	w := serve(t, nil)
	l := linkOf(w.begin(admin, "payer"))
	refused := 0
	for range 60 {
		res, _ := w.send(request{method: "POST", path: "/v1/approvals/lookup", body: jsonOf(client.Link{Run: l.Run, Call: l.Call, Token: "guess"})})
		if res.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("only %d of 60 guesses are held down", refused)
	}
	w.ask(admin, "GET", "/v1/runs/"+l.Run, "", 200)
}

// The page is there for who follows a link from elsewhere, loads nothing from
// anywhere else, and decides nothing by being looked at.
func TestApprovePage(t *testing.T) {
	w := serve(t, nil)
	l := linkOf(w.begin(admin, "payer"))
	for path, kind := range map[string]string{"/approve": "text/html; charset=utf-8", "/approve.js": "text/javascript; charset=utf-8", "/approve.css": "text/css; charset=utf-8"} {
		for method, header := range map[string]http.Header{"GET": {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, "HEAD": nil} {
			res, data := w.send(request{method: method, path: path + fmt.Sprintf("?run=%s&call=%s&token=%s", l.Run, l.Call, l.Token), header: header})
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != kind {
				t.Errorf("%s %s: %d %s", method, path, res.StatusCode, res.Header.Get("Content-Type"))
			}
			csp := res.Header.Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") || res.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s: %v", path, res.Header)
			}
			for _, never := range []string{"innerHTML", "http://", "https://", "<script>", "onclick", "style="} {
				if bytes.Contains(data, []byte(never)) {
					t.Errorf("%s has %s", path, never)
				}
			}
		}
	}
	if w.look(l).State != "open" {
		t.Error("looking at the page decided")
	}
}

// What a server lets go of, or ends, is told with the tokens of what it waits for.
func TestRests(t *testing.T) {
	var mu sync.Mutex
	var all []pawl.Result
	w := serve(t, &server.Options{Rests: func(r pawl.Result) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	}})
	told := func(n int) pawl.Result {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			mu.Lock()
			r := all
			mu.Unlock()
			if len(r) == n {
				return r[n-1]
			}
		}
		t.Fatalf("%d are told, not %d", len(all), n)
		return pawl.Result{}
	}
	run := w.begin(admin, "payer")
	if r := told(1); r.Run != run.Run || r.Status != pawl.StatusWaitingApproval || r.Pending[0].Token == "" || r.Pending[0].Token != run.Pending[0].Token {
		t.Errorf("%+v", r)
	}
	w.ask(admin, "POST", "/v1/runs/"+run.Run+"/cancel", "{}", 200)
	if r := told(2); r.Run != run.Run || r.Status != pawl.StatusCancelled {
		t.Errorf("%+v", r)
	}
}
