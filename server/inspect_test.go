package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// one is a host of one agent.
type one struct {
	agent  pawl.Agent
	engine *engine.Engine
}

func (o one) Agents(context.Context) ([]client.Agent, error) { return nil, nil }
func (o one) Start(context.Context, string, json.RawMessage) (worker.Work, error) {
	return worker.Work{Agent: o.agent, Engine: o.engine}, nil
}
func (o one) Again(context.Context, *pawl.State, *Change) (worker.Work, error) {
	return worker.Work{Agent: o.agent, Engine: o.engine}, nil
}
func (o one) Desk(*pawl.State) *engine.Engine { return o.engine }

// hosted serves an agent under the token "t".
func hosted(t testing.TB, j Store, agent pawl.Agent) (*httptest.Server, *engine.Engine) {
	t.Helper()
	e := engine.New(j, nil)
	s, err := New(j, one{agent, e}, []Key{{Token: "t"}}, nil)
	must(t, err)
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.Close()
		_ = e.Close()
	})
	return web, e
}

// get reads an answer into out, or what is refused.
func get(t testing.TB, web *httptest.Server, path string, status int, out any) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+path, http.NoBody)
	must(t, err)
	r.Header.Set("Authorization", "Bearer t")
	w, err := http.DefaultClient.Do(r)
	must(t, err)
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	must(t, err)
	if w.StatusCode != status {
		t.Fatalf("%s answers %s: %s", path, w.Status, body)
	}
	if out != nil && status == http.StatusOK {
		d := json.NewDecoder(strings.NewReader(string(body)))
		d.DisallowUnknownFields()
		if err := d.Decode(out); err != nil {
			t.Fatalf("%s: %v in %s", path, err, body)
		}
	}
	return string(body)
}

// TestInspect looks into a run whose call is a run of its own.
func TestInspect(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	look := tool.Func("look", "Look.", func(context.Context, struct {
		N int `json:"n"`
	},
	) (string, error) {
		return "seen " + token, nil
	}, pawl.Read)
	call := func(tool, args string) pawl.Reply { return pawl.Do(pawl.Call{Tool: tool, Args: json.RawMessage(args)}) }
	child := pawl.Agent{Name: "child", Description: "Helps.", Model: script.Replies(pawl.Say("helped"))}
	boss := pawl.Agent{
		Name: "boss", Prompt: "Use " + token + " with care.", Stop: stop.Any(stop.All(stop.ToolCalled("look"), stop.ToolCalled("child"), stop.Done()), stop.Iterations(9)),
		Model:    script.Replies(call("look", `{"n":1}`), call("child", `{"input":"help"}`), pawl.Say("done")),
		Tools:    []pawl.Tool{look, tool.Agent(child, nil)},
		Sampling: pawl.Sampling{Temperature: -1},
	}
	j := memory.New()
	web, e := hosted(t, j, boss)
	h, err := e.Start(t.Context(), boss, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	_, err = h.Wait(t.Context())
	must(t, err)

	var calls []uint64
	for entry := range h.Entries(t.Context()) {
		if _, ok := entry.Event.(pawl.ModelCalled); ok {
			calls = append(calls, entry.Seq)
		}
	}
	var r client.Request
	raw := get(t, web, "/v1/runs/r/requests/"+fmt.Sprint(calls[1]), http.StatusOK, &r)
	if strings.Contains(raw, token) {
		t.Error("a request shows a secret:", raw)
	}
	var parts []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			parts = append(parts, m.Role+" "+p.Type+" "+p.Tool+p.Text+string(p.Args))
		}
	}
	if diff := cmp.Diff([]string{"user text go", `assistant call look{"n":1}`, "user result lookseen [redacted]"}, parts); diff != "" {
		t.Error(diff)
	}
	if r.Previous != calls[0] || r.Iteration != 2 || r.Purpose != pawl.PurposeTurn || r.System != "Use [redacted] with care." ||
		len(r.Tools) != 2 || r.Tools[0].Name != "look" || r.Sampling.Temperature == nil || *r.Sampling.Temperature != 0 || !r.Messages[0].Cache {
		t.Errorf("it is %s", raw)
	}
	get(t, web, "/v1/runs/r/requests/1", http.StatusNotFound, nil)
	get(t, web, "/v1/runs/r/requests/9999", http.StatusNotFound, nil)
	get(t, web, "/v1/runs/r/requests/x", http.StatusNotFound, nil)
	get(t, web, "/v1/runs/none/requests/1", http.StatusNotFound, nil)

	var now, then client.Stop
	get(t, web, "/v1/runs/r/stop", http.StatusOK, &now)
	get(t, web, "/v1/runs/r/stop?at="+fmt.Sprint(calls[1]), http.StatusOK, &then)
	all := func(s client.Stop) stop.Node { return s.Stop.Children[0].Children[0] }
	if !now.Stop.Holds || !all(now).Holds || all(now).Kind != stop.KindAll || then.Stop.Holds || !all(then).Children[0].Holds || all(then).Children[1].Holds {
		t.Errorf("it stands at %+v, and then at %+v", then, now)
	}
	for _, at := range []string{"0", "-1", "x", "9999"} {
		get(t, web, "/v1/runs/r/stop?at="+at, http.StatusUnprocessableEntity, nil)
	}

	var again client.Replayed
	get(t, web, "/v1/runs/r/replay", http.StatusOK, &again)
	if !again.Agrees || again.Steps < 5 || again.Problem != "" {
		t.Errorf("replayed, it is %+v", again)
	}
	get(t, web, "/v1/runs/r.c_2/replay", http.StatusOK, &again)
	if !again.Agrees || again.Run != "r.c_2" {
		t.Errorf("replayed, the child is %+v", again)
	}

	var runs client.Runs
	get(t, web, "/v1/runs/r/children", http.StatusOK, &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Run != "r.c_2" || runs.Runs[0].Status != pawl.StatusSuccess {
		t.Errorf("its children are %+v", runs)
	}
	get(t, web, "/v1/runs/r.c_2/children", http.StatusOK, &runs)
	if len(runs.Runs) != 0 {
		t.Errorf("its child's children are %+v", runs)
	}
}

// TestReplayDiffers tells the first step that is decided otherwise now.
func TestReplayDiffers(t *testing.T) {
	agent := pawl.Agent{Name: "a", Prompt: "Be brief.", Model: script.Replies(pawl.Say("yes"))}
	j := memory.New()
	e := engine.New(j, nil)
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	_, err = h.Wait(t.Context())
	must(t, err)
	agent.Prompt = "Be long."
	web, _ := hosted(t, j, agent)
	var out client.Replayed
	get(t, web, "/v1/runs/r/replay", http.StatusOK, &out)
	if out.Agrees || !strings.Contains(out.Problem, "prompt changed") {
		t.Errorf("it is %+v", out)
	}
}
