package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

// A person calls a tool by hand: the call is a run with the gates of its agent, its name and
// labels, and a log. A key that cannot decide, or that has other labels, cannot.
func TestCallByHand(t *testing.T) {
	w := serve(t, nil)
	var tools client.Tools
	must(t, json.Unmarshal(w.ask(reader, "GET", "/v1/agents/payer/tools", "", 200), &tools))
	if len(tools.Tools) != 1 || tools.Tools[0].Effect != pawl.Write || !strings.Contains(string(tools.Tools[0].Input), `"eur"`) {
		t.Errorf("%+v", tools)
	}
	at := "/v1/agents/payer/tools/pay"
	for body, words := range map[string]string{
		`{}`: "args are missing", `{"args":{}}`: "do not fit", `{"args":{"eur":"5"}}`: "do not fit", `{"args":{"eur":5,"to":"me"}}`: "do not fit",
		`{"args":{"eur":5},"labels":{"a=b":"c"}}`: "without =",
	} {
		w.refused(acme, "POST", at, body, 422, words)
	}
	w.refused(acme, "POST", "/v1/agents/payer/tools/steal", `{"args":{}}`, 404, "has no tool steal")
	w.refused(acme, "POST", "/v1/agents/nobody/tools/pay", `{"args":{}}`, 422, "no such agent")
	w.refused(reader, "POST", at, `{"args":{"eur":5}}`, 403, "run")
	w.refused(runner, "POST", at, `{"args":{"eur":5}}`, 403, `a call by hand; use a token with the scope "decide"`)

	run := w.result(acme, "POST", at+"?wait=true", `{"args":{"eur":5},"by":"somebody","labels":{"call.by":"another","why":"test"}}`, 201)
	if run.Status != pawl.StatusWaitingApproval || run.Labels["tenant"] != "acme" || run.Labels["call.by"] != "ann" || run.Labels["call.tool"] != "pay" || run.Labels["why"] != "test" {
		t.Fatalf("%+v", run)
	}
	w.refused(other, "POST", "/v1/runs/"+run.Run+"/calls/c_1/approve", `{}`, 404, "")
	var err error
	if w.agents["payer"], err = runs.Calling(w.agents["payer"], "pay", runs.Person); err != nil {
		t.Fatal(err)
	}
	w.ask(acme, "POST", "/v1/runs/"+run.Run+"/calls/c_1/approve?wait=true", `{}`, 200)
	if r := w.until(run.Run, pawl.StatusSuccess); r.ToolCalls != 1 || r.Usage.Input > 3 {
		t.Errorf("%+v", r)
	}
	if log := string(w.ask(acme, "GET", "/v1/runs/"+run.Run+"/events", "", 200)); !strings.Contains(log, `"result":"paid 5"`) {
		t.Error(log)
	}
}

// A call that fails is a run that fails.
func TestCallByHandFails(t *testing.T) {
	w := serve(t, nil)
	broken := w.agents["payer"]
	broken.Policies, broken.Tools = nil, []pawl.Tool{tool.Func("pay", "Pay.", func(context.Context, struct {
		EUR int `json:"eur"`
	}) (string, error) {
		return "", errors.New("no money")
	}, pawl.Write)}
	w.agents["payer"] = broken
	if r := w.result(acme, "POST", "/v1/agents/payer/tools/pay?wait=true", `{"args":{"eur":5}}`, 201); r.Status != pawl.StatusFailed || !strings.Contains(r.Reason.Leaf, "tool_errors") {
		t.Errorf("%v: %+v", r.Status, r.Reason)
	}
}

// Who decided what is listed for a run and for all runs that a key may see.
func TestDecisions(t *testing.T) {
	w := serve(t, nil)
	paid := w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"payer","input":"pay"}`, 201)
	w.ask(acme, "POST", "/v1/runs/"+paid.Run+"/calls/c_1/approve?wait=true", `{"args":{"eur":7}}`, 200)
	w.until(paid.Run, pawl.StatusSuccess)
	asked := w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"asker","input":"ask"}`, 201)
	w.ask(admin, "POST", "/v1/runs/"+asked.Run+"/calls/c_1/answer?wait=true", `{"text":"the left one","by":"bea"}`, 200)
	w.until(asked.Run, pawl.StatusSuccess)
	fork := w.result(acme, "POST", "/v1/runs/"+paid.Run+"/fork?wait=true", `{"at":3,"edit":{"text":"I will not pay."}}`, 201)

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
	edit, forked := "payer|edit|ann||I will not pay.", "payer|fork|ann||"
	answer, approve := "asker|answer|bea|ask_human|the left one", `payer|approve|ann|pay|{"eur":7}`
	for _, tt := range []struct {
		token, path string
		want        []string
	}{
		{acme, "/v1/runs/" + paid.Run + "/decisions", []string{approve}},
		{acme, "/v1/runs/" + fork.Run + "/decisions", []string{edit, forked}},
		{admin, "/v1/decisions", []string{edit, forked, answer, approve}},
		{acme, "/v1/decisions", []string{edit, forked, approve}},
		{other, "/v1/decisions", nil},
		{admin, "/v1/decisions?by=bea", []string{answer}},
		{admin, "/v1/decisions?what=approve", []string{approve}},
		{admin, "/v1/decisions?agent=asker", []string{answer}},
		{admin, "/v1/decisions?label=tenant=acme&what=edit", []string{edit}},
		{admin, "/v1/decisions?until=2020-01-01T00:00:00Z", nil},
		{admin, "/v1/decisions?since=2020-01-01T00:00:00Z&what=fork", []string{forked}},
	} {
		if got := list(tt.token, tt.path); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s %s: %q, want %q", tt.token, tt.path, got, tt.want)
		}
	}
	var page client.Decisions
	if err := json.Unmarshal(w.ask(admin, "GET", "/v1/decisions?max=1", "", 200), &page); err != nil || len(page.Decisions) != 2 || page.Next == "" {
		t.Errorf("%+v, %v", page, err)
	}
	if got := list(admin, "/v1/decisions?cursor="+page.Next); len(got) != 2 {
		t.Errorf("the next page has %q", got)
	}
	w.refused(other, "GET", "/v1/runs/"+paid.Run+"/decisions", "", 404, "")
}
