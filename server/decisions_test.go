package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// Who decided what is listed for a run and for all runs that a key may see.
func TestDecisions(t *testing.T) {
	w := serve(t, nil)
	paid := w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"payer","input":"pay"}`, 201)
	w.ask(acme, "POST", "/v1/runs/"+paid.Run+"/calls/c_1/approve?wait=true", `{"args":{"eur":7}}`, 200)
	w.until(paid.Run, pawl.StatusSuccess)
	asked := w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"asker","input":"ask"}`, 201)
	w.ask(admin, "POST", "/v1/runs/"+asked.Run+"/calls/c_1/answer?wait=true", `{"text":"the left one","by":"bea"}`, 200)
	w.until(asked.Run, pawl.StatusSuccess)
	fork := w.result(acme, "POST", "/v1/runs/"+paid.Run+"/fork?wait=true", `{"at":3,"input":"Pay later."}`, 201)

	list := func(token, path string) (said []string) {
		var page client.Decisions
		must(t, json.Unmarshal(w.ask(token, "GET", path, "", 200), &page))
		for _, d := range page.Decisions {
			if d.Time.IsZero() || d.Seq == 0 {
				t.Errorf("%+v", d)
			}
			said = append(said, strings.Join([]string{d.Agent, d.What, d.By, d.Tool, d.Text}, "|"))
		}
		return said
	}
	forked := "payer|fork|ann||Pay later."
	answer, approve := "asker|answer|bea|ask_human|the left one", `payer|approve|ann|pay|{"eur":7}`
	for _, tt := range []struct {
		token, path string
		want        []string
	}{
		{acme, "/v1/runs/" + paid.Run + "/decisions", []string{approve}},
		{acme, "/v1/runs/" + fork.Run + "/decisions", []string{forked}},
		{admin, "/v1/decisions", []string{forked, answer, approve}},
		{acme, "/v1/decisions", []string{forked, approve}},
		{other, "/v1/decisions", nil},
		{admin, "/v1/decisions?by=bea", []string{answer}},
		{admin, "/v1/decisions?what=approve", []string{approve}},
		{admin, "/v1/decisions?agent=asker", []string{answer}},
		{admin, "/v1/decisions?label=tenant=acme&what=fork", []string{forked}},
		{admin, "/v1/decisions?until=2020-01-01T00:00:00Z", nil},
		{admin, "/v1/decisions?since=2020-01-01T00:00:00Z&what=fork", []string{forked}},
	} {
		if got := list(tt.token, tt.path); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s %s: %q, want %q", tt.token, tt.path, got, tt.want)
		}
	}
	var page client.Decisions
	if err := json.Unmarshal(w.ask(admin, "GET", "/v1/decisions?max=1", "", 200), &page); err != nil || len(page.Decisions) != 1 || page.Next == "" {
		t.Errorf("%+v, %v", page, err)
	}
	if got := list(admin, "/v1/decisions?cursor="+page.Next); len(got) != 2 {
		t.Errorf("the next page has %q", got)
	}
	w.refused(other, "GET", "/v1/runs/"+paid.Run+"/decisions", "", 404, "")
}
