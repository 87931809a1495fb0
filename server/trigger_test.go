package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

const hookSecret = "It's a Secret to Everybody"

func mac(parts ...string) string {
	m := hmac.New(sha256.New, []byte(hookSecret))
	m.Write([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(m.Sum(nil))
}

// github is a request as GitHub sends it.
func github(path, event, body string) request {
	return request{method: "POST", path: path, body: body, header: http.Header{
		"X-Github-Event": {event}, "X-Hub-Signature-256": {"sha256=" + mac(body)}, "X-Github-Delivery": {"72d3162e-cc78-11e3-81ab-4c9367dc0958"}}}
}

// slack is a request as Slack sends it.
func slack(path, body string, at time.Time) request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return request{method: "POST", path: path, body: body, header: http.Header{
		"X-Slack-Request-Timestamp": {stamp}, "X-Slack-Signature": {"v0=" + mac("v0:", stamp, ":", body)}}}
}

// triggered sends a webhook and wants an answer.
func (w *world) triggered(r request, want int) (out client.Triggered) {
	w.t.Helper()
	res, data := w.send(r)
	if res.StatusCode != want {
		w.t.Fatalf("%s is answered with %d: %s", r.path, res.StatusCode, data)
	}
	if err := json.Unmarshal(data, &out); err != nil && want == http.StatusOK {
		w.t.Fatal(err)
	}
	return out
}

// inputOf is the input of a run.
func inputOf(t *testing.T, j pawl.Journal, run string) pawl.RunStarted {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		must(t, err)
		return e.Event.(pawl.RunStarted)
	}
	t.Fatalf("run %s has no entry", run)
	return pawl.RunStarted{}
}

func runsIn(t *testing.T, j pawl.Journal) (n int) {
	t.Helper()
	for _, err := range j.List(t.Context(), pawl.Query{}) {
		must(t, err)
		n++
	}
	return n
}

func hooked(t *testing.T) *world {
	secret := []byte(hookSecret)
	return serve(t, &server.Options{Triggers: []server.Trigger{
		{Agent: "calm", Webhook: "pulls", Sign: "github", Secret: secret, When: map[string]string{"action": "opened"}, Key: "pull {{number}}", Input: "Review {{pull_request.title}}."},
		{Agent: "calm", Webhook: "comments", Sign: "github", Secret: secret, Key: "pull {{number}}", Signal: "{{comment}}"},
		{Agent: "waiter", Webhook: "orders", Sign: "github", Secret: secret, Key: "order {{number}}"},
		{Agent: "waiter", Webhook: "payment", Sign: "github", Secret: secret, Key: "order {{number}}", Signal: "{{amount}} received"},
		{Agent: "calm", Webhook: "all", Sign: "github", Secret: secret},
		{Agent: "calm", Webhook: "chat", Sign: "slack", Secret: secret, Input: "{{event.text}}"},
	}})
}

// A signed webhook starts a run once, also when it is repeated. One that is not signed so starts nothing.
func TestTriggerStartsOnce(t *testing.T) {
	w := hooked(t)
	const body = `{"action":"opened","number":7,"pull_request":{"title":"the gate"}}`
	bad := github("/v1/triggers/pulls", "pull_request", body)
	for _, sign := range []string{"sha256=" + mac(body, "x"), "sha256=", "sha1=" + mac(body), mac(body)} {
		bad.header.Set("X-Hub-Signature-256", sign)
		w.triggered(bad, http.StatusUnauthorized)
	}
	bad.header.Del("X-Hub-Signature-256")
	w.triggered(bad, http.StatusUnauthorized)
	w.triggered(github("/v1/triggers/nosuch", "pull_request", body), http.StatusNotFound)
	w.triggered(github("/v1/triggers/all", "pull_request", `[1]`), http.StatusBadRequest)
	if got := w.triggered(github("/v1/triggers/pulls", "pull_request", `{"action":"closed"}`), 200); got.Ignored != "action is not opened" {
		t.Errorf("another action: %+v", got)
	}
	if got := w.triggered(github("/v1/triggers/pulls", "ping", `{"zen":"Keep it."}`), 200); got.Ignored != "ping" {
		t.Errorf("a ping: %+v", got)
	}
	w.triggered(github("/v1/triggers/comments", "issue_comment", `{"number":7,"comment":"again"}`), http.StatusNotFound)
	if n := runsIn(t, w.journal); n != 0 {
		t.Fatalf("%d runs were started", n)
	}
	var all sync.WaitGroup
	got := make([]client.Triggered, 8)
	for i := range got {
		all.Go(func() { got[i] = w.triggered(github("/v1/triggers/pulls", "pull_request", body), 200) })
	}
	all.Wait()
	fresh := 0
	for _, one := range got {
		if one.Run != got[0].Run || one.Run == "" {
			t.Errorf("it started %q and %q", one.Run, got[0].Run)
		}
		if !one.Found {
			fresh++
		}
	}
	start := inputOf(t, w.journal, got[0].Run)
	if fresh != 1 || runsIn(t, w.journal) != 1 || start.Input != "Review the gate." || !start.Untrusted || start.Labels["trigger"] != "pulls" {
		t.Errorf("%d are new; the run is %q with %v, untrusted %v", fresh, start.Input, start.Labels, start.Untrusted)
	}
}

// A request without a part that its trigger names is refused, and starts and signals nothing. Null may
// stand in a text, but not in a key: all such requests would be one run.
func TestTriggerLacksPart(t *testing.T) {
	w := hooked(t)
	for _, c := range []struct{ path, body, want string }{
		{"pulls", `{"action":"opened","nummer":7,"pull_request":{"title":"x"}}`, "key: the body has no number"},
		{"pulls", `{"action":"opened","number":null,"pull_request":{"title":"x"}}`, "key: the body has no number"},
		{"pulls", `{"action":"opened","number":7,"pull_request":["title"]}`, "start: the body has no pull_request.title"},
		{"comments", `{"number":7}`, "signal: the body has no comment"},
	} {
		res, data := w.send(github("/v1/triggers/"+c.path, "pull_request", c.body))
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(data), c.want) || strings.Count(w.log.String(), c.want) == 0 {
			t.Errorf("%s is answered with %d %s, not %q; the log is\n%s", c.body, res.StatusCode, data, c.want, w.log)
		}
	}
	if n := runsIn(t, w.journal); n != 0 {
		t.Errorf("%d runs were started", n)
	}
	w.triggered(github("/v1/triggers/pulls", "pull_request", `{"action":"opened","number":7,"pull_request":{"title":null}}`), 200)
}

// The example of a request in the documentation starts a run of the example of a spec there.
func TestTriggerOfDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "triggers.md"))
	must(t, err)
	found := regexp.MustCompile(`(?s)start: "(.+?)".*BODY='(.+?)'`).FindStringSubmatch(string(page))
	if found == nil {
		t.Fatal("docs/triggers.md has no example")
	}
	w := serve(t, &server.Options{Triggers: []server.Trigger{{Agent: "calm", Webhook: "pulls", Sign: "github", Secret: []byte(hookSecret), When: map[string]string{"action": "opened"}, Input: found[1]}}})
	run := w.triggered(github("/v1/triggers/pulls", "pull_request", found[2]), 200).Run
	if got := inputOf(t, w.journal, run).Input; !strings.HasPrefix(got, "Review https://") {
		t.Errorf("its input is %q", got)
	}
}

// A webhook can send a message to the run that another has started; a repeat sends it once.
func TestTriggerSignals(t *testing.T) {
	w := hooked(t)
	run := w.triggered(github("/v1/triggers/pulls", "pull_request", `{"action":"opened","number":8,"pull_request":{"title":"x"}}`), 200).Run
	for range 2 {
		if got := w.triggered(github("/v1/triggers/comments", "issue_comment", `{"number":8,"comment":"And the docs?"}`), 200); got.Run != run {
			t.Errorf("it signals %q, not %q", got.Run, run)
		}
	}
	n := 0
	for _, err := range w.journal.Signals(t.Context(), run, 0) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d signals were sent", n)
	}
}

// A signal wakes the run that waits for one of that name, once.
func TestTriggerWakes(t *testing.T) {
	w := hooked(t)
	run := w.triggered(github("/v1/triggers/orders", "push", `{"number":8}`), 200).Run
	w.result(admin, "POST", "/v1/runs/"+run+"/resume?wait=true", "{}", 200)
	w.until(run, pawl.StatusPaused)
	w.triggered(github("/v1/triggers/payment", "push", `{"number":8,"amount":12}`), 200)
	w.send(github("/v1/triggers/payment", "push", `{"number":8,"amount":12}`)) // which is refused if the run is over by now
	if r := w.until(run, pawl.StatusSuccess); r.Steps[0].Calls[0].Status != "ok" || r.Iterations != 2 {
		t.Errorf("its steps are %+v", r.Steps)
	}
}

// Slack's address is verified, its requests have their time, and a repeat is the same run.
func TestTriggerOfSlack(t *testing.T) {
	w := hooked(t)
	const verify = `{"token":"x","challenge":"3eZbrw1aB","type":"url_verification"}`
	if got := w.triggered(slack("/v1/triggers/chat", verify, time.Now()), 200); got.Challenge != "3eZbrw1aB" || got.Run != "" {
		t.Errorf("the address is verified with %+v", got)
	}
	const body = `{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention","text":"What is a pawl?"}}`
	for _, off := range []time.Duration{-6 * time.Minute, 6 * time.Minute} {
		w.triggered(slack("/v1/triggers/chat", body, time.Now().Add(off)), http.StatusUnauthorized)
	}
	if n := runsIn(t, w.journal); n != 0 {
		t.Fatalf("%d runs were started", n)
	}
	first, again := w.triggered(slack("/v1/triggers/chat", body, time.Now()), 200), w.triggered(slack("/v1/triggers/chat", body, time.Now().Add(time.Second)), 200)
	if first.Run == "" || again.Run != first.Run || !again.Found || inputOf(t, w.journal, first.Run).Input != "What is a pawl?" {
		t.Errorf("it starts %+v, then %+v", first, again)
	}
}

// timed is a host of one agent, on a clock that a test moves.
type timed struct {
	server.Host
	journal *memory.Journal
	agent   pawl.Agent
}

func (h timed) Start(context.Context, string, json.RawMessage) (worker.Work, error) {
	return worker.Work{Agent: h.agent, Engine: engine.New(h.journal, nil), Input: "go"}, nil
}

func (h timed) server(t *testing.T, triggers ...server.Trigger) *server.Server {
	t.Helper()
	s, err := server.New(h.journal, h, keys, &server.Options{Triggers: triggers})
	must(t, err)
	return s
}

func onClock() timed {
	return timed{journal: memory.New(), agent: pawl.Agent{Name: "a", Model: script.Replies(pawl.Say("done"))}}
}

// for runs triggers for a time.
func during(t *testing.T, d time.Duration, all ...*server.Server) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	var done sync.WaitGroup
	for _, s := range all {
		done.Go(func() { s.Trigger(ctx) })
	}
	done.Wait()
}

// Two servers on one journal start one run at each time. What passes while none runs is left
// out, or made up for once.
func TestTriggerOfCron(t *testing.T) {
	for _, makeUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := onClock()
			at := server.Trigger{Agent: "a", Cron: "0 8 * * *", MakeUp: makeUp, Input: "It is {{time}}."}
			during(t, 60*time.Hour, h.server(t, at), h.server(t, at)) // from midnight
			if n := runsIn(t, h.journal); n != 3 {
				t.Errorf("%d runs in 60 hours", n)
			}
			for head, err := range h.journal.List(t.Context(), pawl.Query{Max: 1}) {
				if start := inputOf(t, h.journal, head.Run); err != nil || start.Input != "It is 2000-01-03T08:00:00Z." || start.Untrusted || head.Status != pawl.StatusQueued {
					t.Errorf("the last is %v with %q, %v", head.Status, start.Input, err)
				}
			}
			time.Sleep(7*24*time.Hour + 12*time.Hour)
			want := map[bool]int{false: 3, true: 4}[makeUp]
			for range 2 { // also a server that starts again
				during(t, time.Minute, h.server(t, at), h.server(t, at))
				if n := runsIn(t, h.journal); n != want {
					t.Errorf("%d runs after the week without a server, not %d", n, want)
				}
			}
		})
	}
}

// Each file in a folder starts a run once, when it has stopped changing.
func TestTriggerOfFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := onClock(), t.TempDir()
		put := func(name, text string) {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		put("a.txt", "one")
		put(".hidden", "no")
		must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		folder := server.Trigger{Agent: "a", Watch: dir}
		during(t, 10*time.Second, h.server(t, folder), h.server(t, folder))
		put("b.txt", "two")
		during(t, 10*time.Second, h.server(t, folder))
		put("b.txt", "three")
		during(t, 10*time.Second, h.server(t, folder))
		inputs := map[string]int{}
		for head, err := range h.journal.List(t.Context(), pawl.Query{}) {
			must(t, err)
			inputs[inputOf(t, h.journal, head.Run).Input]++
		}
		if fmt.Sprint(inputs) != "map[a.txt:\n\none:1 b.txt:\n\nthree:1 b.txt:\n\ntwo:1]" {
			t.Errorf("the inputs are %v", inputs)
		}
	})
}

// A server refuses triggers that it cannot serve.
func TestTriggerInvalid(t *testing.T) {
	for _, c := range []struct {
		trigger server.Trigger
		want    string
	}{
		{server.Trigger{Agent: "a"}, "not one of cron, webhook and watch"},
		{server.Trigger{Agent: "a", Cron: "@daily", Watch: "x"}, "not one of cron, webhook and watch"},
		{server.Trigger{Agent: "a", Cron: "61 * * * *"}, `the minute "61" is not from 0 to 59`},
		{server.Trigger{Agent: "a", Webhook: "x"}, "has no secret"},
		{server.Trigger{Agent: "a", Webhook: "X y", Secret: []byte("s")}, "needs a name of its own"},
		{server.Trigger{Agent: "a", Webhook: "x", Secret: []byte("s"), Sign: "md5"}, `sign is "md5", not one of standard, github, slack`},
		{server.Trigger{Agent: "a", Webhook: "x", Secret: []byte("s"), Signal: "hello"}, "no key that says to which run"},
	} {
		h := onClock()
		if _, err := server.New(h.journal, h, keys, &server.Options{Triggers: []server.Trigger{c.trigger}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, not %q", c.trigger, err, c.want)
		}
	}
}

// mortal is a journal whose process dies at its nth write, before or after it is made.
type mortal struct {
	*memory.Journal
	mu    sync.Mutex
	left  int
	after bool
}

var errMortal = errors.New("the process is dead")

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 || m.left == 0 && !m.after {
		return errMortal
	}
	if err := do(); m.left > 0 || err != nil {
		return err
	}
	return errMortal
}

func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	return m.write(func() error { return m.Journal.Append(ctx, b) })
}

func (m *mortal) Claim(ctx context.Context, c pawl.Claim) (l pawl.Lease, err error) {
	err = m.write(func() error { l, err = m.Journal.Claim(ctx, c); return err })
	return l, err
}

// Of two servers one is killed at any write while it fires. The run is started once.
func TestTriggerKills(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := onClock()
				at := server.Trigger{Agent: "a", Cron: "0 8 * * *"}
				dying := killed{h, &mortal{Journal: h.journal, left: n, after: after}}
				s, err := server.New(h.journal, dying, keys, &server.Options{Triggers: []server.Trigger{at}})
				must(t, err)
				during(t, 8*time.Hour+time.Minute, s, h.server(t, at))
				for head, err := range h.journal.List(t.Context(), pawl.Query{}) {
					if err != nil || head.Status != pawl.StatusQueued || head.Seq != 2 {
						t.Errorf("killed at write %d, after %v: a run is %v with %d entries, %v", n, after, head.Status, head.Seq, err)
					}
				}
				if got := runsIn(t, h.journal); got != 1 {
					t.Errorf("killed at write %d, after %v: %d runs", n, after, got)
				}
			})
		}
	}
}

// killed is a host whose engine is on a mortal journal.
type killed struct {
	timed
	mortal *mortal
}

func (k killed) Start(context.Context, string, json.RawMessage) (worker.Work, error) {
	return worker.Work{Agent: k.agent, Engine: engine.New(k.mortal, nil), Input: "go"}, nil
}

// GitHub's own payloads start runs.
func TestTriggerOfGitHub(t *testing.T) {
	path := filepath.Join("..", "testdata", "webhooks", "node_modules", "@octokit", "webhooks-examples", "api.github.com", "index.json")
	data, err := os.ReadFile(path)
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("GitHub's payloads are missing (npm ci in testdata/webhooks installs them): %v", err)
	}
	var all []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	must(t, err)
	w := hooked(t)
	started, opened := map[string]bool{}, 0
	for _, event := range all {
		if event.Name != "pull_request" && event.Name != "issues" && event.Name != "push" {
			continue
		}
		for _, body := range event.Examples {
			started[w.triggered(github("/v1/triggers/all", event.Name, string(body)), 200).Run] = true
			if event.Name != "pull_request" {
				continue
			}
			got := w.triggered(github("/v1/triggers/pulls", event.Name, string(body)), 200)
			if got.Run == "" {
				continue
			}
			opened++
			var pull struct {
				PullRequest struct {
					Title string `json:"title"`
				} `json:"pull_request"`
			}
			if err := json.Unmarshal(body, &pull); err != nil || inputOf(t, w.journal, got.Run).Input != "Review "+pull.PullRequest.Title+"." {
				t.Errorf("the input is %q, %v", inputOf(t, w.journal, got.Run).Input, err)
			}
		}
	}
	if len(started) < 30 || opened == 0 {
		t.Errorf("%d runs were started, %d by pull requests that were opened", len(started), opened)
	}
}
