package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/team"
)

// TestLegs: a client that waits gets the last leg, and each leg can be looked at.
func TestLegs(t *testing.T) {
	w := serve(t, nil)
	w.handsOver("front", "calm")
	var last, first pawl.Result
	must(t, json.Unmarshal(w.ask(admin, "POST", "/v1/runs?wait=true", `{"agent":"front","input":"Go."}`, 201), &last))
	if last.Agent != "back" || last.Answer != "hello" || len(last.Legs) != 2 || last.Legs[1] != last.Run {
		t.Fatalf("%s: %s, %v", last.Agent, last.Answer, last.Legs)
	}
	must(t, json.Unmarshal(w.ask(admin, "GET", "/v1/runs/"+last.Legs[0], "", 200), &first))
	for _, run := range last.Legs { // each leg shows all
		var r explain.Report
		must(t, json.Unmarshal(w.ask(admin, "GET", "/v1/runs/"+run+"/explain", "", 200), &r))
		if c := r.Conversation; len(c) != 2 || c[0].Run != first.Run || c[0].By != "" || c[1].Run != last.Run || c[1].By != "front" || c[1].Reason != "not mine" || c[1].Status != pawl.StatusSuccess {
			t.Errorf("the conversation by leg %s: %v", run, c)
		}
	}
	if to, handed := team.HandedIn(first); !handed || to != "back" || !slices.Equal(first.Legs, last.Legs) || first.Action != "pawl wait "+last.Run {
		t.Errorf("%v: %s, %v, %s", first.Status, first.Reason.Leaf, first.Legs, first.Action)
	}
	_, told := w.send(request{token: admin, method: "GET", path: "/v1/runs/" + first.Run + "/events", header: http.Header{"Accept": {"text/event-stream"}}})
	if !strings.HasSuffix(string(told), `},"next_leg":"`+last.Run+"\"}\n\n") {
		t.Errorf("the stream: %s", told)
	}
	_, told = w.send(request{token: admin, method: "GET", path: "/v1/runs/" + first.Run + "/ag-ui"})
	begun := regexp.MustCompile(`"type":"RUN_(?:STARTED|FINISHED)","[^{]*?"runId":"([^"]+)"`).FindAllSubmatch(told, -1)
	if !strings.Contains(string(told), `"next_leg":"`+last.Run+`"`) || len(begun) != 4 || string(begun[1][1]) != first.Run || string(begun[2][1]) != last.Run {
		t.Errorf("AG-UI does not show both legs: %s", told)
	}
	for _, query := range []string{"", "&max=1"} {
		var page client.Runs
		for got := (client.Runs{Next: "-"}); got.Next != ""; query = "&max=1&cursor=" + got.Next {
			got = client.Runs{}
			must(t, json.Unmarshal(w.ask(admin, "GET", "/v1/runs?thread="+first.Run+query, "", 200), &got))
			page.Runs = append(page.Runs, got.Runs...)
		}
		if len(page.Runs) != 2 || page.Runs[0].Run != last.Run || page.Runs[1].Run != first.Run {
			t.Errorf("%q: the thread has %v", query, page.Runs)
		}
	}
	w.refused(admin, "POST", "/v1/runs/"+first.Run+"/messages", `{"text":"too late"}`, 409, "run "+last.Run+" is over: success; to continue, start a run in its thread")

	// The thread is that of its tenant, too.
	own := w.begin(acme, "front")
	next := w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"front","input":"And?","thread":"`+own.Legs[0]+`"}`, 201)
	if next.Agent != "back" || len(next.Legs) != 0 || *next.Thread != own.Legs[0] {
		t.Errorf("the follow-up went to %s, of thread %s", next.Agent, *next.Thread)
	}
}

// handsOver adds an agent that hands everything over to another one, under the name back.
func (w *world) handsOver(name, to string) {
	back := w.agents[to]
	back.Name = "back"
	w.agents[name] = pawl.Agent{Name: name, Tools: []pawl.Tool{team.Handoff(&back, nil)},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Do(pawl.Call{Tool: "handoff_to_back", Args: []byte(`{"reason":"not mine"}`)}), nil
		})}
}

// TestTell: what is asked of a run that handed over reaches the leg that has the conversation.
func TestTell(t *testing.T) {
	w := serve(t, nil)
	holder := w.agents["holder"]
	holder.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if r.Turn == 1 {
			return pawl.Do(pawl.Call{Tool: "hold", Args: []byte(`{}`)}), nil
		}
		return pawl.Say("held"), nil
	})
	w.agents["holder"] = holder
	w.handsOver("front", "holder")
	first := w.until(w.result(admin, "POST", "/v1/runs", `{"agent":"front","input":"Go."}`, 201).Run, pawl.StatusSuccess)
	if len(first.Legs) != 2 || first.Action != "pawl wait "+first.Legs[1] {
		t.Fatalf("%v, %s", first.Legs, first.Action)
	}
	at := "/v1/runs/" + first.Run
	if r := w.result(admin, "POST", at+"/messages", `{"text":"be quick","by":"ann"}`, 200); r.Run != first.Legs[1] {
		t.Errorf("run %s reads the message", r.Run)
	}
	if r := w.result(admin, "POST", at+"/cancel?wait=true", `{"reason":"enough","by":"ann"}`, 200); r.Run != first.Legs[1] || r.Status != pawl.StatusCancelled || !strings.Contains(r.Reason.Detail, "ann") {
		t.Errorf("%s is %v: %s", r.Run, r.Status, r.Reason.Detail)
	}
	w.refused(admin, "POST", at+"/cancel", "", 409, "run "+first.Legs[1]+" is over: cancelled")
}
