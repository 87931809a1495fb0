package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/web"
)

func TestNewChecksWhereTheTokenGoes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://127.0.0.1:8080":         "",
		"http://localhost:8080":         "",
		"http://[::1]:8080":             "",
		"https://runs.example.org/pawl": "",
		"unix:///run/pawl.sock":         "",
		"http://runs.example.org":       "unencrypted",
		"http://127.0.0.1.example.org":  "unencrypted",
		"http://10.0.0.7:8080":          "unencrypted",
		"http://ann:pw@127.0.0.1":       "contains a user",
		"http://127.0.0.1/?token=x":     "has a query or fragment",
		"127.0.0.1:8080":                "is malformed",
		"runs.example.org":              "invalid server address",
		"ftp://127.0.0.1":               "invalid server address",
		"http://":                       "invalid server address",
		"unix://pawl.sock":              "names no socket",
		"":                              "invalid server address",
	} {
		_, err := New(address, "secret", nil)
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "secret") || strings.Contains(got, "pw") {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
	if _, err := New("http://runs.example.org", "", nil); err != nil {
		t.Error("without a token:", err)
	}
	if _, err := New("http://runs.example.org", "secret", &Options{PlainHTTP: true}); err != nil {
		t.Error("where it is allowed:", err)
	}
	if _, err := New("http://127.0.0.1", "secret\n", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error("a token with a line end:", err)
	}
}

func TestCallsAreAskedAgain(t *testing.T) {
	t.Parallel()
	ok := document(pawl.Result{Run: run, Status: pawl.StatusSuccess})
	busy := problem(503, "busy")
	one := "GET /v1/runs/" + run
	begin, fork, approve := "POST /v1/runs", "POST /v1/runs/"+run+"/fork", "POST /v1/runs/"+run+"/calls/c_1/approve"
	f, c := serve(t, map[string][]http.HandlerFunc{one: {page(502, "<html>"), cut, busy, ok}, begin: {cut, ok}, fork: {busy, ok}, approve: {cut, ok}})
	if r, err := c.Run(t.Context(), run); err != nil || r.Status != pawl.StatusSuccess || r.Verdict.Status != pawl.StatusSuccess {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.Start(t.Context(), StartRun{Agent: "a"}); err == nil {
		t.Error("a start without a key was repeated")
	}
	if _, err := c.Fork(t.Context(), run, ForkRun{At: 3}); err == nil {
		t.Error("a fork was repeated")
	}
	if err := c.Approve(t.Context(), run, "c_1", "", nil); err != nil {
		t.Error("an approval that was cut off:", err)
	}
	for name, want := range map[string]int{one: 4, begin: 1, fork: 1, approve: 2} {
		if got := len(f.asked(name)); got != want {
			t.Errorf("%s was asked %d times, want %d", name, got, want)
		}
	}

	f, c = serve(t, map[string][]http.HandlerFunc{begin: {cut, ok}, one: {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		busy(w, r)
	}}})
	if _, err := c.StartAndWait(t.Context(), StartRun{Agent: "a", IdempotencyKey: "k"}); err != nil {
		t.Error("a start under a key:", err)
	}
	if _, err := c.Run(t.Context(), run); err == nil || len(f.asked(one)) != 1 {
		t.Errorf("a server that wants an hour was asked %d times: %v", len(f.asked(one)), err)
	}
	if got := f.asked(begin)[1].URL.RawQuery; got != "wait=true" {
		t.Errorf("started with ?%s", got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	one := "GET /v1/runs/" + run
	huge := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 100 {
			fmt.Fprint(w, strings.Repeat(" ", 1000))
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"problem":     {problem(404, "there is no run x"), "there is no run x"},
		"another 404": {page(404, "<html>\n  <b>nginx</b>"), `/v1/runs/` + run + `: the answer is not one of a pawl server: 404 Not Found: "<html> <b>nginx</b>"`},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		}, "302 Found, which sends on to https://elsewhere.example/"},
		"HTML":       {page(200, "<html>Please log in</html>"), `200 OK: "<html>Please log in</html>"`},
		"other JSON": {document([]int{1}), "cannot unmarshal array"},
		"half": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "99")
			document(1)(w, r)
			_ = http.NewResponseController(w).Flush()
			cut(w, r)
		}, "unexpected EOF"},
		"huge":          {huge, "the answer has more than"},
		"hanging":       {hang, "no answer within"},
		"empty problem": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "500 Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, client := serve(t, map[string][]http.HandlerFunc{one: {c.answer}})
			client.most = 50_000
			if name == "hanging" {
				client.options.Timeout = 300 * time.Millisecond
			}
			_, err := client.Run(t.Context(), run)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-token") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if p, ok := errors.AsType[*Problem](err); ok != (name == "problem") || ok && p.Status != 404 {
				t.Errorf("error %#v", err)
			}
			_ = f
		})
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, c := serve(t, map[string][]http.HandlerFunc{"POST /v1/runs": {hang}})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
	if _, err := c.StartAndWait(ctx, StartRun{Agent: "a"}); !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := "http://" + l.Addr().String()
	_ = l.Close()
	c, err := New(address, "secret-token", nil)
	must(t, err)
	if _, err := c.Agents(t.Context()); err == nil || !strings.Contains(err.Error(), "GET "+address+"/v1/agents: ") || strings.Contains(err.Error(), "secret-token") {
		t.Error(err)
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "pawl") //nolint:usetesting // its name is too long for a socket
	must(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	must(t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "localhost" || r.Header.Get("Authorization") != "Bearer t" {
			problem(403, r.Host)(w, r)
			return
		}
		document(Agents{[]Agent{{Name: "a"}}})(w, r)
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	c, err := New("unix://"+path, "t", nil)
	must(t, err)
	if agents, err := c.Agents(t.Context()); err != nil || len(agents) != 1 {
		t.Error(agents, err)
	}
	if c.String() != "unix://"+path {
		t.Error(c)
	}
}

// Ids are whatever somebody typed; none leads to another path.
func TestIDsAreEscaped(t *testing.T) {
	t.Parallel()
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.EscapedPath())
		document(pawl.Result{Status: pawl.StatusSuccess})(w, r)
	}))
	defer s.Close()
	c, err := New(s.URL+"/base/", "", nil)
	must(t, err)
	for _, id := range []string{"a/b", "..", "a?b#c", "a b"} {
		if _, err := c.Run(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff([]string{"/base/v1/runs/a%2Fb", "/base/v1/runs/%2E%2E", "/base/v1/runs/a%3Fb%23c", "/base/v1/runs/a%20b"}, seen); d != "" {
		t.Error(d)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	lines := story(t, 5)
	raw := func(lines ...string) (out []json.RawMessage) {
		for _, l := range lines {
			out = append(out, json.RawMessage(l))
		}
		return out
	}
	f, c := serve(t, map[string][]http.HandlerFunc{
		"GET /v1/runs": {document(Runs{[]RunLine{{Run: "c", Status: pawl.StatusExpired}, {Run: "b", Status: pawl.StatusRunning}}, "2"}), document(Runs{[]RunLine{{Run: "a", Status: pawl.StatusSuccess}}, ""})},
		events:         {document(Entries{raw(lines[:2]...), "p2"}), document(Entries{raw(lines[1:5]...), ""})},
	})
	var got []string
	for r, err := range c.Runs(t.Context(), Query{Run: "01", Status: pawl.StatusExpired, Agent: "x y", Labels: map[string]string{"k": "v"}, Children: true}) {
		must(t, err)
		got = append(got, r.Run)
	}
	var seqs []uint64
	for e, err := range c.Entries(t.Context(), run, 1) {
		must(t, err)
		seqs = append(seqs, e.Seq)
	}
	if d := cmp.Diff([]string{"c", "b", "a"}, got) + cmp.Diff([]uint64{2, 3, 4, 5}, seqs); d != "" {
		t.Error(d)
	}
	if q := f.asked("GET /v1/runs")[1].URL.Query().Encode(); q != "agent=x+y&children=true&cursor=2&label=k%3Dv&max=200&run=01&status=expired" {
		t.Errorf("the second page was asked for with %s", q)
	}
	for range c.Runs(t.Context(), Query{}) {
		break
	}
	got = nil
	for r := range c.Runs(t.Context(), Query{Max: 1}) {
		got = append(got, r.Run)
	}
	if len(got) != 1 {
		t.Errorf("of one run at most, %q came", got)
	}
	if n := len(f.asked("GET /v1/runs")); n != 4 {
		t.Errorf("%d pages were fetched, want 4", n)
	}
}

// What is said to a run is sent as the contract has it, with the trace within which it is said.
func TestBodies(t *testing.T) {
	t.Parallel()
	const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	got := map[string]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&body) != nil {
			problem(415, "no JSON")(w, r)
			return
		}
		got[r.Method+" "+r.URL.Path] = string(body)
		if told := r.Header.Get("Traceparent"); told != id {
			t.Errorf("it is told of the trace %q", told)
		}
		document(pawl.Result{Run: run, Status: pawl.StatusRunning})(w, r)
	}))
	defer s.Close()
	c, err := New(s.URL, "", nil)
	must(t, err)
	ctx := web.WithParent(t.Context(), web.Parent{ID: id})
	only := func(_ pawl.Result, err error) error { return err }
	for _, err := range []error{
		only(c.Start(ctx, StartRun{Agent: "a", Input: "go", Limits: Limits{"iterations": json.RawMessage("3")}, Labels: map[string]string{"k": "v"}, IdempotencyKey: "once"})),
		only(c.Resume(ctx, "r", ResumeRun{Limits{"time": json.RawMessage(`"+5m"`)}})),
		c.Cancel(ctx, "r", "", "enough"),
		only(c.Fork(ctx, "r", ForkRun{At: 7, Input: "else"})),
		c.Approve(ctx, "r", "c_1", "ann", &engine.ApproveOptions{Token: "t", Args: json.RawMessage(`{"n":1}`), Reach: approval.Reach{Scope: "run", Free: []string{"n"}, Times: 2}}),
		c.Deny(ctx, "r", "c_1", "", "no", nil),
		c.Answer(ctx, "r", "c_1", "", "four"),
		c.Submit(ctx, "r", "c_1", "", json.RawMessage("null")),
		c.Resolve(ctx, "r", "c_1", "", engine.DidNotHappen()),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := map[string]string{
		"POST /v1/runs":                     `{"agent":"a","input":"go","limits":{"iterations":3},"labels":{"k":"v"},"idempotency_key":"once"}`,
		"POST /v1/runs/r/resume":            `{"limits":{"time":"+5m"}}`,
		"POST /v1/runs/r/cancel":            `{"reason":"enough"}`,
		"POST /v1/runs/r/fork":              `{"at":7,"input":"else"}`,
		"POST /v1/runs/r/calls/c_1/approve": `{"token":"t","args":{"n":1},"scope":"run","free":["n"],"times":2,"by":"ann"}`,
		"POST /v1/runs/r/calls/c_1/deny":    `{"reason":"no"}`,
		"POST /v1/runs/r/calls/c_1/answer":  `{"text":"four"}`,
		"POST /v1/runs/r/calls/c_1/submit":  `{"result":null}`,
		"POST /v1/runs/r/calls/c_1/settle":  `{"did_not_happen":true}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
