package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/server/client"
)

// What can be wrong with a run that is to be started is told before it is.
func TestStart(t *testing.T) {
	w := serve(t, nil)
	for body, words := range map[string]string{
		`{}`:                             "send either agent or spec",
		`{"agent":"nobody","input":"x"}`: "no such agent",
		`{"agent":"calm"}`:               "input is missing",
		`{"agent":"calm","input":"x","limits":{"iterations":0}}`:        `limits: iterations: it must be at least 1; send for example {"iterations": 20`,
		`{"agent":"calm","input":"x","limits":{"iterations":"+5"}}`:     "nothing to add to",
		`{"agent":"calm","input":"x","limits":{"apples":1}}`:            "the limit is unknown",
		`{"agent":"calm","input":"x","labels":{"a":"b","n":5}}`:         "labels cannot be a JSON number",
		`{"agent":"calm","input":"x","thread":"` + long + `"}`:          "at most",
		`{"agent":"calm","input":"x","idempotency_key":"` + long + `"}`: "at most",
		`{"agent":"calm","input":"x","labels":{"":"b"}}`:                `label "" cannot be queried`,
		`{"agent":"calm","input":"x","labels":{"tenant":""}}`:           `label "tenant" has no value`,
	} {
		w.refused(admin, "POST", "/v1/runs", body, 422, words)
	}
	w.refused(admin, "POST", "/v1/runs", "", 400, "the body is not JSON")
	w.refused(admin, "GET", "/v1/runs?status=bogus", "", 422, "or waiting")
	w.refused(admin, "POST", "/v1/runs?wait=perhaps", `{"agent":"calm","input":"x"}`, 422, "write true or false")
	if n := count(w, ""); n != 0 {
		t.Errorf("%d runs were started", n)
	}
	r := w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"x","limits":{"iterations":3,"time":"5m","tokens":"10000"},"labels":{"a":"b"}}`, 201)
	if r.Status != pawl.StatusSuccess || r.Answer != "hello" || r.Labels["a"] != "b" || r.Labels["mood"] != "calm" {
		t.Errorf("%+v", r)
	}
	s, err := engine.Load(t.Context(), w.journal, r.Run)
	if l := s.Limits(); err != nil || l.Iterations != 3 || l.Tokens != 10000 || l.Time.Minutes() != 5 {
		t.Errorf("it got %v, %v", l, err)
	}
}

var long = strings.Repeat("x", 2000)

// A key makes starting repeatable, and another run under it a conflict.
func TestIdempotency(t *testing.T) {
	w := serve(t, nil)
	const body = `{"agent":"payer","input":"x","idempotency_key":"k"}`
	first := w.result(admin, "POST", "/v1/runs?wait=true", body, 201)
	for range 3 {
		if again := w.result(admin, "POST", "/v1/runs?wait=true", body, 201); again.Run != first.Run || again.Status != pawl.StatusWaitingApproval {
			t.Errorf("it is %s, %v, not %s", again.Run, again.Status, first.Run)
		}
	}
	for _, fresh := range []string{"k", "another"} {
		res, _ := w.send(request{token: admin, method: "POST", path: "/v1/runs", body: `{"agent":"payer","input":"x","idempotency_key":"` + fresh + `"}`})
		if res.StatusCode != http.StatusCreated || (res.Header.Get("Idempotent-Replayed") == "true") != (fresh == "k") {
			t.Errorf("under key %s it answers %d, %v", fresh, res.StatusCode, res.Header)
		}
	}
	w.refused(admin, "POST", "/v1/runs", `{"agent":"payer","input":"y","idempotency_key":"k"}`, 409, first.Run)
	w.refused(admin, "POST", "/v1/runs", `{"agent":"calm","input":"x","idempotency_key":"k"}`, 409, first.Run)
	if n := count(w, ""); n != 2 {
		t.Errorf("there are %d runs", n)
	}
	together := make(chan string)
	for range 4 {
		go func() {
			_, data := w.send(request{token: admin, method: "POST", path: "/v1/runs", body: `{"agent":"calm","input":"x","idempotency_key":"at once"}`})
			var r pawl.Result
			_ = json.Unmarshal(data, &r)
			together <- r.Run
		}()
	}
	ids := []string{<-together, <-together, <-together, <-together}
	if slices.Sort(ids); ids[0] == "" || len(slices.Compact(ids)) != 1 {
		t.Errorf("who starts at once gets %q", ids)
	}
}

func count(w *world, query string) int {
	w.t.Helper()
	return len(page(w, admin, query).Runs)
}

func page(w *world, token, query string) (p client.Runs) {
	w.t.Helper()
	must(w.t, json.Unmarshal(w.ask(token, "GET", "/v1/runs"+query, "", 200), &p))
	return p
}

// remove removes a run from the journal.
func (w *world) remove(run string) {
	w.t.Helper()
	lease, err := w.journal.Claim(w.t.Context(), pawl.Claim{Run: run, Owner: "x", TTL: 1})
	if err == nil {
		err = w.journal.Remove(w.t.Context(), run, lease.Epoch)
	}
	must(w.t, err)
}

// A list is read in pages that new runs and runs that go do not move, of what the
// filter selects.
func TestList(t *testing.T) {
	w := serve(t, nil)
	var all []string
	for i := range 7 {
		token := []string{admin, acme}[i%2]
		all = append(all, w.begin(token, "calm").Run)
	}
	slices.Reverse(all)
	var got []string
	next := "?max=2"
	for i := 0; ; i++ {
		p := page(w, admin, next)
		for _, line := range p.Runs {
			got = append(got, line.Run)
		}
		if p.Next == "" {
			break
		}
		next = "?max=2&cursor=" + url.QueryEscape(p.Next)
		if i == 0 {
			w.begin(admin, "payer")
		}
		if i == 1 { // the run that the cursor stands at
			w.remove(got[len(got)-1])
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("%q, want %q", got, all)
	}
	asker := w.begin(admin, "asker")
	w.begin(admin, "boss")
	w.begin(acme, "looper")
	for query, want := range map[string]int{
		"?status=waiting_input": 1, "?status=waiting_approval": 2, "?status=waiting_approval&children=true": 3, "?status=exhausted": 1, "?status=running": 0,
		"?status=interrupted": 0, "?status=expired": 0,
		"?agent=asker": 1, "?agent=nobody": 0, "?loop=react&agent=asker": 1, "?label=mood%3Dcalm&label=tenant%3Dacme": 2, "?label=mood%3D": 0, "?thread=none": 0,
		"?max=1": 1, "?max=100000": 10, "?run=" + asker.Run: 1, "?run=nobody": 0,
	} {
		if n := count(w, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	if p := page(w, acme, "?agent=asker"); len(p.Runs) != 0 {
		t.Errorf("acme sees %s", asker.Run)
	}
	for query, words := range map[string]string{
		"?status=happy": "status", "?max=0": "at least 1", "?max=x": "at least 1", "?label=mood": "KEY=VALUE", "?label=%3Dx": "KEY=VALUE", "?children=x": "true or false",
		"?cursor=x": "cursor", "?cursor=" + url.QueryEscape("bm90aGluZw"): "cursor",
	} {
		w.refused(admin, "GET", "/v1/runs"+query, "", 422, words)
	}
}

// A page goes on behind the run at which the one before it ended, whatever that run
// has become since, and however many forks of old runs there are.
func TestListGoesOn(t *testing.T) {
	w := serve(t, nil)
	old := w.begin(admin, "payer")
	for range 5 {
		w.begin(admin, "payer")
		w.result(admin, "POST", "/v1/runs/"+old.Run+"/fork?wait=true", `{"at":1}`, 201)
	}
	first := page(w, admin, "?status=waiting_approval&max=4")
	for _, line := range first.Runs {
		w.result(admin, "POST", "/v1/runs/"+line.Run+"/calls/c_1/approve?wait=true", `{}`, 200)
	}
	var rest []string
	for next := first.Next; next != ""; {
		p := page(w, admin, "?status=waiting_approval&max=3&cursor="+next)
		next = p.Next
		for _, line := range p.Runs {
			rest = append(rest, line.Run)
		}
	}
	if len(rest) != 7 || rest[6] != old.Run {
		t.Errorf("of seven that wait there follow %q", rest)
	}
	for _, line := range first.Runs {
		w.remove(line.Run)
	}
	w.refused(admin, "GET", "/v1/runs?cursor="+first.Next, "", 409, "start the list again")
}

// A log is read in pages, of which the last says where what is to come will be.
func TestEvents(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "payer")
	entries := func(query string) (p client.Entries) {
		t.Helper()
		must(t, json.Unmarshal(w.ask(admin, "GET", "/v1/runs/"+run.Run+"/events"+query, "", 200), &p))
		return p
	}
	var n int
	next := "?max=2"
	for {
		p := entries(next)
		for _, raw := range p.Entries {
			var e struct{ Seq int }
			if n++; json.Unmarshal(raw, &e) != nil || e.Seq != n {
				t.Fatalf("entry %d is %s", n, raw)
			}
		}
		if next = "?max=2&cursor=" + p.Next; len(p.Entries) < 2 {
			break
		}
	}
	if p := entries(next); len(p.Entries) != 0 || "?max=2&cursor="+p.Next != next {
		t.Errorf("a run that waits has not ended: %+v", p)
	}
	w.result(admin, "POST", "/v1/runs/"+run.Run+"/calls/c_1/approve?wait=true", `{}`, 200)
	if p := entries(strings.Replace(next, "max=2", "max=100", 1)); len(p.Entries) == 0 || p.Next != "" {
		t.Errorf("it has ended: %d, %q", len(p.Entries), p.Next)
	}
	if p := entries("?cursor=100000"); len(p.Entries) != 0 || p.Next != "" {
		t.Errorf("beyond the end: %+v", p)
	}
	for _, cursor := range []string{"0", "-1", "x", "99999999999999999999"} {
		w.refused(admin, "GET", "/v1/runs/"+run.Run+"/events?cursor="+cursor, "", 422, "cursor")
	}
}

// What looks like a secret leaves by no way out.
func TestRedacted(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "looper")
	for _, path := range []string{"", "/events", "/explain"} {
		res, data := w.send(request{token: admin, method: "GET", path: "/v1/runs/" + run.Run + path})
		if res.StatusCode != http.StatusOK || strings.Contains(string(data), "a1B2a1B2") {
			t.Errorf("%s: %d %s", path, res.StatusCode, data)
		}
	}
	res, data := w.send(request{token: admin, method: "GET", path: "/v1/runs/" + run.Run + "/explain", header: map[string][]string{"Accept": {"text/markdown, application/json;q=0.5"}}})
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(string(data), "# ") || strings.Contains(string(data), "a1B2a1B2") {
		t.Errorf("%d %s", res.StatusCode, data)
	}
	w.ask(admin, "GET", "/v1/runs/"+run.Run+"/explain", "", 200)
	const secret = "hunter2-hunter2"
	asker := w.begin(admin, "asker")
	w.result(admin, "POST", "/v1/runs/"+asker.Run+"/calls/c_1/answer?wait=true", fmt.Sprintf(`{"text":"it is %s"}`, secret), 200)
	for row, err := range w.journal.Read(t.Context(), asker.Run, 1) {
		if err != nil || strings.Contains(string(row.Data), secret) {
			t.Errorf("%v: %s", err, row.Data)
		}
	}
}
