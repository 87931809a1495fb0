package server_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// A search finds what was asked and answered, and of runs with other labels nothing: a
// client must not find out by it what they say.
func TestSearch(t *testing.T) {
	w := serve(t, nil)
	first := w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"Where is parcel 4711? Key hunter2-hunter2."}`, 201).Run
	ours := w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"payer","input":"Pay for parcel 4711."}`, 201)
	for _, c := range []struct{ token, query, want string }{
		{admin, "parcel", ours.Run + " " + first},
		{admin, "PARC 47 where", first},
		{admin, "hello", first}, // its answer
		{admin, "payer 4711", ours.Run},
		{admin, first[:20], first}, // as people paste it
		{admin, "hunter2", ""},
		{acme, "parcel", ours.Run},
		{acme, "where", ""},
		{other, "parcel", ""},
	} {
		var got []string
		for _, line := range page(w, c.token, "?q="+url.QueryEscape(c.query)).Runs {
			got = append(got, line.Run)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s finds %v by %q, not %s", c.token, got, c.query, c.want)
		}
	}
	p := page(w, admin, "?q=parcel&max=1")
	if rest := page(w, admin, "?q=parcel&max=1&cursor="+p.Next); len(rest.Runs) != 1 || rest.Runs[0].Run != first {
		t.Errorf("the second page has %v", rest.Runs)
	}
	soon := url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339))
	if n := count(w, "?until="+soon); n != 2 {
		t.Errorf("%d runs were created before %s", n, soon)
	}
	if n := count(w, "?since="+soon); n != 0 {
		t.Errorf("%d runs were created after %s", n, soon)
	}
	if n := count(w, "?min_cost=0"); n != 0 {
		t.Errorf("%d runs without a price have a cost", n)
	}
	for query, words := range map[string]string{"q=%20-": "a letter or digit", "q=" + long: "at most", "since=today": "write a time", "min_cost=-1": "write dollars", "min_cost=NaN": "write dollars"} {
		w.refused(admin, "GET", "/v1/runs?"+query, "", 422, words)
	}
}

// A brief list says what a run was asked, what it answered and what it waits for.
func TestBriefs(t *testing.T) {
	w := serve(t, nil)
	w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"a\n`+strings.Repeat("é", 400)+`"}`, 201)
	boss := w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"boss","input":"all"}`, 201)
	for range 2 { // the second time from what is kept
		lines := page(w, admin, "?brief=true").Runs
		if len(lines) != 2 {
			t.Fatal(lines)
		}
		if b := lines[1]; b.Answer != "hello" || !strings.HasPrefix(b.Input, "a ééé") || !strings.HasSuffix(b.Input, "é…") || len(b.Input) > 310 {
			t.Errorf("%+v", b)
		}
		if b := lines[0]; b.Input != "all" || len(b.Waits) != 1 || b.Waits[0].Tool != "pay" || b.Waits[0].Run == boss.Run || b.Waits[0].Token != "" {
			t.Errorf("%+v", b)
		}
	}
	if lines := page(w, admin, "").Runs; lines[1].Input != "" || lines[0].Waits != nil {
		t.Errorf("a usual list has %+v", lines)
	}
	w.result(admin, "POST", "/v1/runs/"+boss.Run+"/cancel?wait=true", `{}`, 200)
	if b := page(w, admin, "?brief=true").Runs[0]; b.Status != pawl.StatusCancelled || b.Waits != nil {
		t.Errorf("%+v", b)
	}
}
