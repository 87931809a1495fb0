package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/tool"
)

type number struct {
	N int `json:"n"`
}

// world is a served agent and what its tools have done.
type world struct {
	engine  *engine.Engine
	journal *sqlite.Journal
	server  *Server
	agent   pawl.Agent
	paid    atomic.Int32
	running chan struct{} // the tool hang
	stopped chan struct{}
}

func serve(t *testing.T) *world {
	t.Helper()
	w := &world{running: make(chan struct{}, 2), stopped: make(chan struct{}, 2)}
	double := func(ctx context.Context, in number) (number, error) {
		tool.Progress(ctx, 0.5, "half")
		return number{2 * in.N}, nil
	}
	w.agent = pawl.Agent{
		Name: "clerk", Description: "A clerk.", Prompt: "You are a clerk.", Labels: map[string]string{"team": "a"},
		Source: `{"kind":"spec"}`,
		Tools: []pawl.Tool{
			tool.Func("double", "Double a number.", double, pawl.Read),
			tool.Func("say", "Say.", func(context.Context, struct{}) (string, error) { return "hello", nil }, pawl.Idempotent),
			tool.Func("fail", "Fail.", func(context.Context, struct{}) (string, error) { return "", errors.New("no luck") }, pawl.Read),
			tool.Func("pay", "Pay.", func(_ context.Context, in number) (string, error) { w.paid.Add(1); return "paid", nil }, pawl.Write),
			tool.Func("show", "Show.", func(context.Context, struct{}) (pawl.Output, error) {
				return pawl.Output{JSON: json.RawMessage(`[1]`), Files: []pawl.File{{Type: "image/png", Data: []byte("png")}}}, nil
			}, pawl.Read),
			tool.Func("hang", "Hang.", func(ctx context.Context, _ struct{}) (string, error) {
				w.running <- struct{}{}
				<-ctx.Done()
				w.stopped <- struct{}{}
				return "", ctx.Err()
			}, pawl.Read),
			tool.AskHuman(), tool.Wait(nil),
			tool.Client("pick", "Pick.", nil, nil),
		},
		Policies: []pawl.Policy{approval.For("pay")},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			task := r.Messages[0].Parts[0].(pawl.Text).Text
			switch {
			case task == "pay" && len(r.Messages) == 1:
				return pawl.Do(pawl.Call{ID: "p", Tool: "pay", Args: json.RawMessage(`{"n":7}`)}), nil
			case task == "double" && len(r.Messages) == 1:
				return pawl.Do(pawl.Call{ID: "d", Tool: "double", Args: json.RawMessage(`{"n":4}`)}), nil
			case task == "for ever":
				return pawl.Do(pawl.Call{ID: "d", Tool: "double", Args: json.RawMessage(`{"n":4}`)}), nil
			}
			return pawl.Say("done: " + task), nil
		}),
		Limits: pawl.Limits{Iterations: 3},
	}
	w.open(t)
	return w
}

func (w *world) open(t *testing.T) {
	t.Helper()
	var err error
	if w.journal, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.journal.Close() })
	w.engine = engine.New(w.journal, nil)
	t.Cleanup(func() { w.engine.Close() })
	if w.server, err = New(w.engine, w.journal, w.agent, &Options{Labels: map[string]string{"by": "mcp"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Close)
}

// connect is a client of the server, on its standard input and output.
func (w *world) connect(t *testing.T, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- w.server.Serve(context.Background(), in, out)
		out.Close()
	}()
	t.Cleanup(func() { // when the client has gone
		must(t, <-served)
	})
	return dial(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, o)
}

func dial(t *testing.T, transport sdk.Transport, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, nil)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// call gives the answer of a call as text, the run it was, and whether it is an error.
func call(t *testing.T, c *sdk.ClientSession, name, args string) (text, run string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	must(t, err)
	for _, one := range r.Content {
		switch one := one.(type) {
		case *sdk.TextContent:
			text += one.Text
		case *sdk.ImageContent:
			text += " +" + one.MIMEType
		}
	}
	if r.StructuredContent != nil {
		raw, _ := json.Marshal(r.StructuredContent)
		text += " " + string(raw)
	}
	run, _ = r.Meta[runMeta].(string)
	return text, run, r.IsError
}

func (w *world) state(t *testing.T, run string) *pawl.State {
	t.Helper()
	s, err := engine.Load(t.Context(), w.journal, run)
	must(t, err)
	return s
}

func TestList(t *testing.T) {
	c := serve(t).connect(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	must(t, err)
	got := map[string]string{}
	for _, one := range list.Tools {
		hint := ""
		if a := one.Annotations; a != nil && a.ReadOnlyHint {
			hint = "read"
		} else if a != nil && a.IdempotentHint {
			hint = "idempotent"
		}
		got[one.Name] = hint
	}
	want := map[string]string{"double": "read", "say": "idempotent", "fail": "read", "pay": "", "show": "read", "wait": "read", "hang": "read", "clerk": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every call is a run, whose log tells the truth about it.
func TestCallsAreRuns(t *testing.T) { // Promises: B7, N13.
	w := serve(t)
	c := w.connect(t, nil)
	for _, tt := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"double", `{"n":21}`, `{"n":42} {"n":42}`, false},
		{"say", `{}`, "hello", false},
		{"show", `{}`, "[1] +image/png", false},
		{"fail", `{}`, "no luck", true},
		{"double", `{"n":"x"}`, "n: ", true},
		{"double", `{"n":1,"m":2}`, "m", true},
	} {
		text, run, failed := call(t, c, tt.tool, tt.args)
		if failed != tt.failed || !strings.Contains(text, tt.want) || !failed && text != tt.want {
			t.Errorf("%s %s: %q, %v", tt.tool, tt.args, text, failed)
		}
		s := w.state(t, run)
		var made []string
		for one := range s.Calls() {
			made = append(made, one.Tool+" "+string(one.Args))
		}
		if s.Status() != pawl.StatusSuccess || s.Input() != tt.args || len(made) != 1 || made[0] != tt.tool+" "+tt.args {
			t.Errorf("%s %s: run %v on %s made %v", tt.tool, tt.args, s.Status(), s.Input(), made)
		}
		if r := s.Result(); r.Labels["by"] != "mcp" || r.Labels["team"] != "a" || r.CostUSD == nil || *r.CostUSD != 0 || r.Usage.Input > 3 {
			t.Errorf("%s: labels %v, cost %v, usage %v", tt.tool, r.Labels, r.CostUSD, r.Usage)
		}
		if tool, ok := runs.Called(s.Declaration().Source); !ok || tool != tt.tool {
			t.Errorf("the source %s does not tell the tool %s", s.Declaration().Source, tt.tool)
		}
	}
}

func TestAgent(t *testing.T) {
	w := serve(t)
	steps := make(chan string, 20)
	c := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { steps <- r.Params.Message }})
	if text, run, failed := call(t, c, "clerk", `{"input":"for ever"}`); !failed || !strings.Contains(text, "exhausted") || !strings.HasSuffix(text, "It is run "+run+"; a person may let it go on with: pawl resume "+run+" --limit iterations=+5") {
		t.Errorf("%s", text)
	}
	for len(steps) > 0 {
		<-steps
	}
	if text, run, failed := call(t, c, "clerk", `{"input":"file it"}`); failed || text != "done: file it" || w.state(t, run).Status() != pawl.StatusSuccess {
		t.Errorf("%s", text)
	}
	if text, _, failed := call(t, c, "clerk", `{"input":" "}`); !failed || !strings.Contains(text, "not blank") {
		t.Errorf("%s", text)
	}
	text, run, failed := call(t, c, "clerk", `{"input":"pay"}`)
	if !failed || !strings.Contains(text, "pawl approve "+run+" c_1") {
		t.Errorf("%s", text)
	}
	must(t, w.engine.Approve(t.Context(), run, "c_1", "", nil))
	if text, again, failed := call(t, c, "clerk", `{"input":"pay"}`); failed || text != "done: pay" || again != run {
		t.Errorf("%s %s", again, text)
	}
	params := &sdk.CallToolParams{Name: "clerk", Arguments: json.RawMessage(`{"input":"double"}`), Meta: sdk.Meta{}}
	params.SetProgressToken("t")
	_, err := c.CallTool(t.Context(), params)
	must(t, err)
	for _, want := range []string{"iteration 1: asking the model", "iteration 1: double", "iteration 1: double: 50 %: half", "iteration 2: asking the model"} {
		select {
		case got := <-steps:
			if got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nobody told %q", want)
		}
	}
}

func TestCancel(t *testing.T) {
	w := serve(t)
	c := w.connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-w.running; cancel() }()
	if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "hang", Arguments: json.RawMessage(`{}`)}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	select {
	case <-w.stopped:
	case <-time.After(time.Minute):
		t.Fatal("the tool was not stopped")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		for head, err := range w.journal.List(t.Context(), pawl.Query{}) {
			must(t, err)
			if head.Status == pawl.StatusCancelled {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the run was not cancelled")
}

// The run of a call whose client disconnects is suspended, and the same call resumes it.
func TestDisconnect(t *testing.T) {
	w := serve(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- w.server.Serve(t.Context(), in, out)
		out.Close()
	}()
	c := dial(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	called := make(chan error, 1)
	go func() {
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "hang", Arguments: json.RawMessage(`{}`)})
		called <- err
	}()
	<-w.running
	toServer.Close()
	must(t, <-served)
	if err := <-called; err == nil {
		t.Error("the call was answered")
	}
	for head, err := range w.journal.List(t.Context(), pawl.Query{}) {
		if r := w.state(t, head.Run).Result(); err != nil || r.Status != pawl.StatusPaused || r.Reason.Detail != "the client has disconnected" {
			t.Errorf("it is %v: %+v, %v", r.Status, r.Reason, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	again := w.connect(t, nil)
	go func() {
		_, _ = again.CallTool(ctx, &sdk.CallToolParams{Name: "hang", Arguments: json.RawMessage(`{}`)})
	}()
	<-w.running
	n := 0
	for _, err := range w.journal.List(t.Context(), pawl.Query{}) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("there are %d runs", n)
	}
}

// A line that cannot be read is answered, and those behind it are served. Ids come back as sent.
func TestLines(t *testing.T) {
	const newest, older = `"2025-06-18"`, `"2025-03-26"`
	for _, c := range []struct{ version, line, want string }{
		{newest, `not json`, `-32700 null`},
		{newest, `{"jsonrpc":"2.0","id":5`, `-32700 null`},
		{newest, "\ufeff" + `{"jsonrpc":"2.0","id":5,"method":"ping"}`, `5`},
		{newest, `{"id":5,"method":"ping"}`, `-32600 null`},
		{newest, `{"jsonrpc":"2.0","id":5,"method":7}`, `-32600 null`},
		{newest, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `-32600 null`},
		{newest, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `-32600 null`},
		{newest, `5`, `-32600 null`},
		{newest, `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `-32600 null`},
		{newest, `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"` + strings.Repeat("x", mostRequest) + `"}}`, `-32600 null`},
		{older, `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":1.50,"method":"ping"}]`, `5 1.50`},
		{older, `[]`, `-32600 null`},
		{older, `[{"jsonrpc":"2.0","id":5,"method":"ping"},1]`, `-32600 null`},
		{newest, `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `9007199254740993`},
		{newest, `{"jsonrpc":"2.0","id":-1e2,"method":"nothing"}`, `-32601 -1e2`},
		{newest, `{"jsonrpc":"2.0","id":"9007199254740993 \"x\"","method":"ping"}`, `"9007199254740993 \"x\""`},
		{newest, `{"jsonrpc":"2.0","id":"","method":"ping"}`, `""`},
		{newest, " \r\n", ``},
	} {
		w := serve(t)
		in, send := io.Pipe()
		answers, out := io.Pipe()
		go func() {
			_ = w.server.Serve(context.Background(), in, out)
			out.Close()
		}()
		hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":` + c.version + `,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		go func() {
			_, _ = io.WriteString(send, strings.Join([]string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, c.line, `{"jsonrpc":"2.0","id":99,"method":"ping"}`}, "\n")+"\n")
		}()
		timeout := time.AfterFunc(10*time.Second, func() { send.Close() })
		want := strings.TrimSpace("1 "+c.want) + " 99"
		var got []string
		for d := json.NewDecoder(answers); len(strings.Join(got, " ")) < len(want); {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				break
			}
			if raw[0] != '[' {
				raw = json.RawMessage("[" + string(raw) + "]")
			}
			var all []struct {
				ID    json.RawMessage
				Error struct{ Code int }
			}
			must(t, json.Unmarshal(raw, &all))
			for _, a := range all {
				if a.Error.Code != 0 {
					got = append(got, fmt.Sprint(a.Error.Code))
				}
				got = append(got, string(a.ID))
			}
		}
		timeout.Stop()
		send.Close()
		slices.SortStableFunc(got, func(a, b string) int { return rank(a) - rank(b) })
		if strings.Join(got, " ") != want {
			t.Errorf("%.60s: %q, want %q", c.line, got, want)
		}
	}
}

// rank puts the first and the last answer in their place, since requests are answered at once.
func rank(id string) int {
	return map[string]int{"1": -1, "99": 1}[id]
}

func TestHTTP(t *testing.T) {
	w := serve(t)
	if _, err := w.server.Handler(""); err == nil {
		t.Error("served without a token")
	}
	handler, err := w.server.Handler("s3cret")
	must(t, err)
	web := httptest.NewServer(handler)
	defer web.Config.Close()
	for _, tt := range []struct {
		token, host, origin string
		want                int
	}{
		{"", "", "", 401}, {"wrong", "", "", 401}, {"s3cret", "evil.example", "", 403}, {"s3cret", "127.0.0.1.evil.example", "", 403},
		{"s3cret", "", "https://evil.example", 403}, {"s3cret", "", "null", 403}, {"s3cret", "", "http://localhost:3000", 403}, {"s3cret", "", web.URL, 400}, {"s3cret", "", "", 400},
		{"s3cret", "", strings.Replace(web.URL, "http", "https", 1), 403},
	} {
		r, _ := http.NewRequest(http.MethodPost, web.URL, strings.NewReader("{"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if tt.token != "" {
			r.Header.Set("Authorization", "Bearer "+tt.token)
		}
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		r.Host = tt.host
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%+v: %d", tt, resp.StatusCode)
		}
	}
	client := &http.Client{Transport: bearer{}}
	c := dial(t, &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: client}, nil)
	if text, _, failed := call(t, c, "double", `{"n":3}`); failed || text != `{"n":6} {"n":6}` {
		t.Errorf("%s", text)
	}
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer s3cret")
	return http.DefaultTransport.RoundTrip(r)
}

func TestOwnName(t *testing.T) {
	w := serve(t)
	w.agent.Name = "double"
	if _, err := New(w.engine, w.journal, w.agent, nil); err == nil || !strings.Contains(err.Error(), "own name") {
		t.Error(err)
	}
}

var must = check.Must
