package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

// The keys of every server here.
const (
	admin  = "admin-token"
	reader = "reader-token" // may only look
	acme   = "acme-token"   // knows of the runs of tenant acme
	other  = "other-token"  // and of tenant other
	runner = "runner-token" // may look and run, and decide nothing
)

var keys = []server.Key{
	{Token: admin},
	{Token: reader, Name: "rita", Scopes: []server.Scope{server.Read}},
	{Token: runner, Name: "ron", Scopes: []server.Scope{server.Read, server.Run}},
	{Token: acme, Name: "ann", Labels: map[string]string{"tenant": "acme"}},
	{Token: other, Name: "otto", Labels: map[string]string{"tenant": "other"}},
}

// world is a served journal.
type world struct {
	t       testing.TB
	journal *sqlite.Journal
	engine  *engine.Engine
	server  *server.Server
	web     *httptest.Server
	agents  map[string]pawl.Agent
	teams   map[string][]string // the agents that may get a conversation
	changed bool                // agents are made otherwise than they were
	release chan struct{}       // lets go of the tool called hold
	log     *check.Log

	mu   sync.Mutex
	held int // works that were not let go of
}

func serve(t testing.TB, o *server.Options) *world {
	t.Helper()
	w := &world{t: t, release: make(chan struct{}), log: &check.Log{}}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	w.journal = j
	w.engine = engine.New(j, &engine.Options{Secrets: map[string]string{"KEY": "hunter2-hunter2"}, Rates: map[string]engine.Rate{"paced": {Requests: 60}}})
	w.agents = agents(w)
	if o == nil {
		o = &server.Options{}
	}
	o.Log = slog.New(slog.NewTextHandler(w.log, nil))
	if w.server, err = server.New(j, w, keys, o); err != nil {
		t.Fatal(err)
	}
	w.web = httptest.NewServer(w.server)
	t.Cleanup(func() {
		w.web.Close()
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		_ = w.engine.Close()
		_ = j.Close()
		if w.held != 0 {
			t.Errorf("%d works were not let go of, or more than once", w.held)
		}
	})
	return w
}

func agents(w *world) map[string]pawl.Agent {
	type payment struct {
		EUR int `json:"eur"`
	}
	pay := tool.Func("pay", "Pay.", func(_ context.Context, p payment) (string, error) {
		return fmt.Sprintf("paid %d", p.EUR), nil
	}, pawl.Write)
	hold := tool.Func("hold", "Hold.", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-w.release:
			return "let go", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, pawl.Read)
	call := func(tool, args string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: tool, Args: json.RawMessage(args)})
	}
	payer := pawl.Agent{
		Name: "payer", Description: "Pays.", Model: script.Replies(call("pay", `{"eur":500}`), pawl.Say("paid")),
		Tools: []pawl.Tool{pay}, Policies: []pawl.Policy{approval.For("pay")},
	}
	all := map[string]pawl.Agent{}
	for _, a := range []pawl.Agent{
		payer,
		{Name: "calm", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("hello"), nil }), Labels: map[string]string{"mood": "calm"}},
		{Name: "asker", Model: script.Replies(call("ask_human", `{"question":"which?"}`), pawl.Say("thanks")), Tools: []pawl.Tool{tool.AskHuman()}},
		{Name: "picker", Model: script.Replies(call("pick", `{}`), pawl.Say("picked")), Tools: []pawl.Tool{tool.Client("pick", "Pick.", nil, nil)}},
		{Name: "waiter", Model: script.Replies(call("wait", `{"signal":"payment"}`), pawl.Say("paid")), Tools: []pawl.Tool{tool.Wait(&tool.WaitOptions{Signals: []string{"payment"}})}},
		{Name: "holder", Model: script.Replies(call("hold", `{}`), pawl.Say("held")), Tools: []pawl.Tool{hold}},
		{Name: "boss", Model: script.Replies(call("payer", `{"input":"pay"}`), pawl.Say("all paid")), Tools: []pawl.Tool{tool.Agent(payer, nil)}},
		{Name: "looper", Model: script.Replies(call("look", `{}`), call("look", `{}`), pawl.Say("seen")), Limits: pawl.Limits{Iterations: 1}, Tools: []pawl.Tool{
			tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) {
				return "sk-ant-api03-" + strings.Repeat("a1B2", 23) + "AA", nil
			}, pawl.Read),
		}},
	} {
		all[a.Name] = a
	}
	return all
}

// Agents lists what may be started.
func (w *world) Agents(context.Context) (list []client.Agent, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.agents {
		list = append(list, client.Agent{Name: name, Model: "script", Loop: "react", Tools: []string{}, Team: w.teams[name]})
	}
	return list, nil
}

// Start makes an agent.
func (w *world) Start(_ context.Context, name string, spec json.RawMessage) (worker.Work, error) {
	switch {
	case name == "panic":
		panic("an agent that panics")
	case name == "broken":
		return worker.Work{}, errors.New("the disk with the password is full")
	case spec != nil || !w.has(name):
		return worker.Work{}, &client.Problem{Type: "about:blank", Title: "Unprocessable Entity", Status: 422, Detail: "there is no such agent"}
	}
	return w.work(name), nil
}

func (w *world) has(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.agents[name].Name != ""
}

func (w *world) work(name string) worker.Work {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held++
	return worker.Work{Agent: w.agents[name], Engine: w.engine, Done: func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held--
	}}
}

// Again makes the agent of a run again.
func (w *world) Again(_ context.Context, s *pawl.State, fork *server.Change) (worker.Work, error) {
	name := s.Declaration().Agent
	if w.agents[name].Name == "" {
		return worker.Work{}, &client.Problem{Type: "about:blank", Title: "Conflict", Status: 409, Detail: "go on with: pawl resume " + s.Run()}
	}
	work := w.work(name)
	if w.changed {
		work.Agent.Prompt = "Be someone else."
	}
	if fork != nil && fork.Prompt != "" {
		work.Agent.Prompt = fork.Prompt
	}
	return work, nil
}

// Desk is an engine for signals.
func (w *world) Desk(*pawl.State) *engine.Engine { return engine.New(w.journal, nil) }

// request is what is sent; a header without a value is left out.
type request struct {
	token, method, path, body string
	header                    http.Header
}

// answer is what comes back beside a body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// send sends a request as it stands, and gives the answer.
func (w *world) send(r request) (answer, []byte) {
	w.t.Helper()
	var body io.Reader = http.NoBody
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), r.method, w.web.URL+r.path, body)
	must(w.t, err)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	for name, values := range r.header {
		if req.Header[name] = values; name == "Host" {
			req.Host = values[0]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(w.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	must(w.t, err)
	return answer{res.StatusCode, res.Header}, data
}

// ask sends a request and wants a status; what comes fits the document.
func (w *world) ask(token, method, path, body string, want int) []byte {
	w.t.Helper()
	res, data := w.send(request{token: token, method: method, path: path, body: body})
	if res.StatusCode != want {
		w.t.Fatalf("%s %s %s: %d, want %d: %s", method, path, body, res.StatusCode, want, data)
	}
	conforms(w.t, method, path, body, res, data)
	return data
}

// result is ask for what answers a run's result.
func (w *world) result(token, method, path, body string, want int) (r pawl.Result) {
	w.t.Helper()
	must(w.t, json.Unmarshal(w.ask(token, method, path, body, want), &r))
	return r
}

// refused is ask for what is refused, with words that say why.
func (w *world) refused(token, method, path, body string, want int, words string) {
	w.t.Helper()
	var p client.Problem
	must(w.t, json.Unmarshal(w.ask(token, method, path, body, want), &p))
	if p.Status != want || !strings.Contains(p.Detail, words) {
		w.t.Errorf("%s %s %s: %+v, want words %q", method, path, body, p, words)
	}
}

// begin starts a run and waits for it.
func (w *world) begin(token, agent string) pawl.Result {
	w.t.Helper()
	return w.result(token, "POST", "/v1/runs?wait=true", fmt.Sprintf(`{"agent":%q,"input":"go"}`, agent), 201)
}

// until waits for a run to stand somewhere.
func (w *world) until(run string, want pawl.Status) pawl.Result {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		r := w.result(admin, "GET", "/v1/runs/"+run, "", 200)
		if r.Status == want || time.Now().After(end) {
			if r.Status != want {
				w.t.Fatalf("run %s is %v, want %v", run, r.Status, want)
			}
			return r
		}
	}
}

var must = check.Must
