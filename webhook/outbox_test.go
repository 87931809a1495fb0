package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/webhook"
)

// A run that waits and then ends is told of twice, in order, and once each,
// however often somebody delivers.
func TestDeliver(t *testing.T) { // Promises: T19.
	j, to := open(t), receive(t, nil)
	out := outbox(t, j, &webhook.Options{Public: "https://runs.example.org/"}, to.hook())
	first := parked(t, j, "r")
	deliver(t, out, first)
	deliver(t, out, first)
	second := settled(t, j, first)
	deliver(t, out, second)
	deliver(t, outbox(t, j, nil, to.hook()), second)
	if to.types() != "waiting stopped" {
		t.Fatal(to.types())
	}
	n := to.got[0]
	var result pawl.Result
	must(t, json.Unmarshal(n.Result, &result))
	if n.Run != "r" || n.ID != webhook.IDOf("r", n.Seq) || result.Status != pawl.StatusWaitingApproval || result.Pending[0].Tool != "pay" {
		t.Errorf("%+v", n)
	}
	token := first.Pending[0].Token
	if result.Pending[0].Token != "" || token == "" || strings.Contains(string(n.Result), token) {
		t.Errorf("the result has the token: %s", n.Result)
	}
	if strings.Contains(to.raw[0], "AKIA") {
		t.Errorf("what looks like a key is not taken out: %s", to.raw[0])
	}
	link, err := url.Parse(n.Links.Approvals[0].URL)
	must(t, err)
	said, _ := url.ParseQuery(link.EscapedFragment())
	if link.Host != "runs.example.org" || link.Path != "/approve" || said.Get("token") != token || said.Get("run") != "r" || said.Get("call") != first.Pending[0].Call {
		t.Errorf("the link is %s", link)
	}
	if to.got[1].Links.Approvals != nil || n.Links.Run != "https://runs.example.org/#/runs/r" {
		t.Errorf("%+v, %+v", n.Links, to.got[1].Links)
	}
	equal(t, "books", books(t, j, "r"), []string{
		fmt.Sprintf("%d.1", n.Seq), fmt.Sprintf("%d.end", n.Seq), fmt.Sprintf("%d.1", to.got[1].Seq), fmt.Sprintf("%d.end", to.got[1].Seq),
	})
	for row, err := range j.Read(t.Context(), "r", 1) {
		if err != nil || strings.Contains(string(row.Data), token) {
			t.Errorf("the log has the token: %s, %v", row.Data, err)
		}
	}
	for l := range j.Signals(t.Context(), "r", 0) {
		if strings.Contains(string(l.Body)+l.Request, token) || strings.Contains(string(l.Body), "http") {
			t.Errorf("the mail has the token or the URL: %+v", l)
		}
	}
}

// With a key, every process can link to a request, and each request has its own link.
func TestLinkByKey(t *testing.T) {
	j, to := open(t), receive(t, nil)
	key := web.NewLinkKey()
	r := parked(t, j, "r")
	s, err := engine.Load(t.Context(), j, r.Run)
	must(t, err)
	c, _ := s.Call(r.Pending[0].Call)
	deliver(t, outbox(t, j, &webhook.Options{Public: "https://runs.example.org", LinkKey: key}, to.hook()), pawl.Result{Run: r.Run})
	want := "https://runs.example.org/approve#call=" + c.ID + "&run=r&token=" + web.LinkToken(key, "r", c.ID, c.TokenHash)
	if l := to.got[0].Links; len(l.Approvals) != 1 || l.Approvals[0].URL != want {
		t.Errorf("%+v, want %s", l, want)
	}
}

// What fails is tried again under the same id, and nothing overtakes it.
func TestRetry(t *testing.T) {
	var j = open(t)
	to := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "canary of the body")
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusOK)
		}
	})
	log := &check.Log{}
	hook := to.hook()
	hook.URL += "/secret-path?secret-query"
	out := outbox(t, j, &webhook.Options{Log: logger(log)}, hook)
	r := settled(t, j, parked(t, j, "r"))
	deliver(t, out, r)
	if to.types() != "waiting waiting waiting waiting stopped" {
		t.Fatal(to.types())
	}
	if ids := to.ids(); ids[0] != ids[3] || ids[3] == ids[4] {
		t.Error(ids)
	}
	if apart := to.at[2].Sub(to.at[1]); apart < time.Second {
		t.Errorf("it came back after %v, though it was asked for a second", apart)
	}
	for _, want := range []string{"500 Internal Server Error", "503 Service Unavailable", "EOF", "status=200"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log says nothing of %s:\n%s", want, log)
		}
	}
	mail := ""
	for l := range j.Signals(t.Context(), "r", 0) {
		mail += string(l.Body)
	}
	for _, secret := range []string{"canary", "secret-path", "secret-query", secret} {
		if strings.Contains(log.String()+mail, secret) {
			t.Errorf("log or mail have %q:\n%s\n%s", secret, log, mail)
		}
	}
}

// A place that is gone is told nothing more of the run; another is all the same.
func TestGone(t *testing.T) {
	j, other := open(t), receive(t, nil)
	to := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	deliver(t, outbox(t, j, nil, to.hook(), other.hook()), settled(t, j, parked(t, j, "r")))
	if to.types() != "waiting" || other.types() != "waiting stopped" {
		t.Errorf("%q, %q", to.types(), other.types())
	}
}

func TestEventsAreChosen(t *testing.T) {
	j, to := open(t), receive(t, nil)
	deliver(t, outbox(t, j, nil, to.hook(webhook.Stopped)), settled(t, j, parked(t, j, "r")))
	if to.types() != "stopped" {
		t.Error(to.types())
	}
}

// A notice of a limit is delivered while the run goes on, and once.
func TestNoticeOfLimit(t *testing.T) {
	j, to := open(t), receive(t, nil)
	out := outbox(t, j, nil, to.hook())
	agent := pawl.Agent{Name: "near", Limits: pawl.Limits{Tokens: 10_000}, Tools: treasurer().Tools, Model: script.Replies(
		pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "pay", Args: json.RawMessage(`{"to": "ada"}`)}}, Usage: pawl.Usage{Input: 100, Output: 8_500}}, pawl.Say("Seen."))}
	result := finish(t)(engine.New(j, nil).Start(t.Context(), agent, "Look.", &engine.StartOptions{ID: "r"}))
	deliver(t, out, result)
	deliver(t, out, result)
	if to.types() != "notice stopped" || to.got[0].Notice == nil || to.got[0].Notice.About != "tokens" || to.got[1].Notice != nil {
		t.Errorf("%s: %+v", to.types(), to.got)
	}
}

// Patience is counted from the first try, by any process. Giving up is recorded, and
// later notices are delivered.
func TestGivenUp(t *testing.T) {
	j := open(t)
	to := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n < 4 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	log := &check.Log{}
	out := outbox(t, j, &webhook.Options{Patience: 3 * time.Minute, Timeout: time.Hour, Log: logger(log)}, to.hook())
	webhook.Hurry(out, func(n int, _ time.Duration) time.Duration {
		webhook.Ahead(out, time.Duration(n)*2*time.Minute) // the next try is that long after the first
		return 0
	})
	if left, err := out.Deliver(t.Context(), settled(t, j, parked(t, j, "r"))); left != 0 || err != nil {
		t.Errorf("%d are left: %v", left, err)
	}
	if to.types() != "waiting waiting waiting stopped" || !strings.Contains(log.String(), "given up") {
		t.Errorf("%s\n%s", to.types(), log)
	}
}

// One that hangs holds up no other, and ends with the time there is; what it was
// sent is told again.
func TestHang(t *testing.T) {
	j, quick := open(t), receive(t, nil)
	hold := make(chan struct{})
	slow := receive(t, func(n int, _ http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			<-hold
		}
	})
	defer close(hold)
	out := outbox(t, j, nil, slow.hook(), quick.hook())
	r := settled(t, j, parked(t, j, "r"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		eventually(t, "the other is not told", func() bool {
			ended := strings.Count(strings.Join(books(t, j, "r"), " "), ".end")
			return slow.types() == "waiting" && ended == 2
		})
	}()
	if left, err := out.Deliver(ctx, r); left == 0 || err != nil {
		t.Fatalf("%d are left: %v", left, err)
	}
	if slow.types() != "waiting" || quick.types() != "waiting stopped" {
		t.Errorf("%q, %q", slow.types(), quick.types())
	}
	deliver(t, out, r)
	if slow.types() != "waiting waiting stopped" || quick.types() != "waiting stopped" {
		t.Errorf("%q, %q", slow.types(), quick.types())
	}
}

// No redirect is followed, wherever it leads, and nobody inside is connected to
// for the sake of a name.
func TestNobodyInside(t *testing.T) {
	j, hidden := open(t), receive(t, func(int, http.ResponseWriter, *http.Request) { t.Error("somebody inside was reached") })
	_, port, _ := net.SplitHostPort(hidden.site.Listener.Addr().String())
	r := parked(t, j, "r")
	for where, kind := range map[string]string{"http://169.254.169.254/latest/meta-data": "302", hidden.site.URL: "307", "https://hooks.example.org/": "308"} {
		to := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", where)
			code := map[string]int{"302": 302, "307": 307, "308": 308}[kind]
			w.WriteHeader(code)
		})
		if said := refused(t, j, r, nil, to.hook()); !strings.Contains(said, kind) {
			t.Errorf("%s: %s", where, said)
		}
	}
	for _, address := range []string{"127.0.0.1", "10.0.0.7", "169.254.169.254", "100.64.0.1", "192.168.1.1", "[::1]", "[fd00::1]", "[fe80::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "224.0.0.1"} {
		hook := webhook.Hook{URL: "https://hooks.example.org:" + port, Secret: secret}
		said := refused(t, j, r, func(string) string { return address + ":" + port }, hook)
		if !strings.Contains(said, "only public addresses are connected to") {
			t.Errorf("%s: %s", address, said)
		}
	}
	out, err := webhook.New(j, webhook.Always(hidden.hook()), nil) // which is not told that this machine is allowed
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if left, err := out.Deliver(ctx, r); left != 1 || err != nil {
		t.Errorf("%d are left: %v", left, err)
	}
}

// refused tries to tell a hook once and returns what was logged of that.
func refused(t *testing.T, j webhook.Store, r pawl.Result, lookup func(string) string, hook webhook.Hook) string {
	t.Helper()
	log := &check.Log{}
	hook.URL += "/" + fmt.Sprint(time.Now().UnixNano()) // one that the books do not know
	out := outbox(t, j, &webhook.Options{Log: logger(log)}, hook)
	webhook.Lookup(out, lookup)
	webhook.Hurry(out, func(int, time.Duration) time.Duration { return time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		eventually(t, "nothing is tried", func() bool { return strings.Contains(log.String(), "not delivered") })
	}()
	if left, err := out.Deliver(ctx, r); left == 0 || err != nil {
		t.Errorf("%d are left: %v", left, err)
	}
	return log.String()
}

// A pause that the owner ends himself, because he asked somebody at his
// terminal, is nobody else's business; nor is that of the run that a fork is of.
func TestPausesOfOthers(t *testing.T) {
	j, to := open(t), receive(t, nil)
	e := engine.New(j, &engine.Options{Approver: engine.ApproverFunc(func(context.Context, engine.Request) (engine.Decision, error) {
		return engine.Decision{Approve: true, By: "ada"}, nil
	})})
	agent := treasurer()
	r := finish(t)(e.Start(t.Context(), agent, "Pay.", &engine.StartOptions{ID: "r"}))
	out := outbox(t, j, nil, to.hook())
	deliver(t, out, r)
	if to.types() != "stopped" {
		t.Error(to.types())
	}
	p := parked(t, j, "p")
	agent.Model = script.Replies(pawl.Say("No."))
	s, err := engine.Load(t.Context(), j, "p")
	must(t, err)
	f := finish(t)(e.Fork(t.Context(), agent, "p", s.Seq(), nil))
	deliver(t, out, f)
	deliver(t, out, p)
	if to.types() != "stopped stopped waiting" || slices.ContainsFunc(to.got[:2], func(n webhook.Notice) bool { return n.Run == "p" }) {
		t.Error(to.types())
	}
}

// What an import brings was told where it was written; what comes after is not.
func TestImported(t *testing.T) {
	from, j, to := open(t), open(t), receive(t, nil)
	r := parked(t, from, "r")
	var file strings.Builder
	must(t, archive.Export(t.Context(), from, "r", &file, &archive.Options{Raw: true}))
	_, err := archive.Import(t.Context(), j, strings.NewReader(file.String()))
	must(t, err)
	out := outbox(t, j, nil, to.hook())
	deliver(t, out, r)
	if to.types() != "" {
		t.Error(to.types())
	}
	deliver(t, out, settled(t, j, r))
	if to.types() != "stopped" {
		t.Error(to.types())
	}
}

func TestWait(t *testing.T) {
	for n, most := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 11: 2048 * time.Second, 12: time.Hour, 99: time.Hour} {
		longest := time.Duration(0)
		for range 200 {
			d := webhook.Wait(n, 0)
			if longest = max(longest, d); d < 100*time.Millisecond || d > most {
				t.Fatalf("after try %d: %v", n, d)
			}
		}
		if longest < most*3/4 {
			t.Errorf("after try %d never more than %v of %v", n, longest, most)
		}
	}
	if d := webhook.Wait(1, 5*time.Hour); d != 5*time.Hour {
		t.Errorf("asked for 5 hours: %v", d)
	}
}
