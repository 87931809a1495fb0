package webhook_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
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
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/webhook"
)

const secret = "whsec_c2VjcmV0IG9mIGEgdGVzdCwgbm90IG1vcmU="

// A receiver takes notices, and answers as it is told.
type receiver struct {
	t      *testing.T
	site   *httptest.Server
	answer func(n int, w http.ResponseWriter, r *http.Request) // n counts from 1; nil: 204

	mu  sync.Mutex
	got []webhook.Notice
	raw []string
	at  []time.Time
}

func receive(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer}
	r.site = httptest.NewServer(r)
	t.Cleanup(r.site.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	if err := webhook.Verify(secret, q.Header, body, time.Now()); err != nil {
		r.t.Errorf("a notice: %v", err)
	}
	var n webhook.Notice
	if err := json.Unmarshal(body, &n); err != nil || n.ID != q.Header.Get("Webhook-Id") {
		r.t.Errorf("%s is no notice with the id of its header: %v", body, err)
	}
	r.mu.Lock()
	r.got, r.raw, r.at = append(r.got, n), append(r.raw, string(body)), append(r.at, time.Now())
	count := len(r.got)
	r.mu.Unlock()
	if r.answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r.answer(count, w, q)
}

// types are what has come, as words.
func (r *receiver) types() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var words []string
	for _, n := range r.got {
		words = append(words, strings.TrimPrefix(n.Type.String(), "run."))
	}
	return strings.Join(words, " ")
}

func (r *receiver) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		ids = append(ids, n.ID)
	}
	return ids
}

func (r *receiver) hook(events ...webhook.Event) webhook.Hook {
	return webhook.Hook{URL: r.site.URL, Secret: secret, Events: events}
}

func open(t *testing.T) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// outbox is one that does not wait long.
func outbox(t *testing.T, j webhook.Store, o *webhook.Options, hooks ...webhook.Hook) *webhook.Outbox {
	t.Helper()
	if o == nil {
		o = &webhook.Options{}
	}
	o.Loopback = true
	out, err := webhook.New(j, webhook.Always(hooks...), o)
	must(t, err)
	webhook.Hurry(out, func(_ int, asked time.Duration) time.Duration { return max(asked, 10*time.Millisecond) })
	return out
}

// treasurer asks before it pays.
func treasurer() pawl.Agent {
	type payment struct {
		To string `json:"to"`
	}
	return pawl.Agent{
		Name: "treasurer",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"to": "AKIAIOSFODNN7EXAMPLE"}`)}),
			pawl.Say("Done."),
		),
		Tools:    []pawl.Tool{tool.Func("pay", "Pay somebody.", func(context.Context, payment) (string, error) { return "paid", nil }, pawl.Write)},
		Policies: []pawl.Policy{approval.For("pay")},
	}
}

// parked is a run that waits for an approval.
func parked(t *testing.T, j pawl.Journal, id string) pawl.Result {
	t.Helper()
	return finish(t)(engine.New(j, nil).Start(t.Context(), treasurer(), "Pay.", &engine.StartOptions{ID: id}))
}

// settled is a run that goes on after an approval, to its end unless the model says something else.
func settled(t *testing.T, j pawl.Journal, r pawl.Result, says ...pawl.Reply) pawl.Result {
	t.Helper()
	e := engine.New(j, nil)
	must(t, e.Approve(t.Context(), r.Run, r.Pending[0].Call, "ada", nil))
	agent := treasurer()
	agent.Model = script.Replies(slices.Concat([]pawl.Reply{{}}, says, []pawl.Reply{pawl.Say("Done.")})...) // the first turn is over
	return finish(t)(e.Resume(t.Context(), agent, r.Run, nil))
}

func finish(t *testing.T) func(*engine.Handle, error) pawl.Result {
	return func(h *engine.Handle, err error) pawl.Result {
		t.Helper()
		must(t, err)
		r, err := h.Wait(t.Context())
		must(t, err)
		return r
	}
}

// deliver tells of a run until nothing is left, or fails.
func deliver(t *testing.T, out *webhook.Outbox, r pawl.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if left, err := out.Deliver(ctx, r); left != 0 || err != nil {
		t.Fatalf("%d are left: %v", left, err)
	}
}

// books are the requests of the signals about deliveries, without the hook.
func books(t *testing.T, j pawl.Inbox, run string) (lines []string) {
	t.Helper()
	for l, err := range j.Signals(t.Context(), run, 0) {
		must(t, err)
		if l.Kind == pawl.SignalDelivery {
			_, rest, _ := strings.Cut(l.Request, ".")
			lines = append(lines, rest)
		}
	}
	return lines
}

func logger(to *check.Log) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, not %q", what, got, want)
	}
}

var must, eventually = check.Must, check.Soon
