package server_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/server"
)

// shaky is a journal that can be taken away.
type shaky struct {
	*sqlite.Journal

	away, silent atomic.Bool // for everything; for signals
}

// awayError is what a journal of somebody else's says of itself.
type awayError struct{ error }

func (awayError) Unavailable() bool { return true }

var errAway = awayError{errors.New("journal postgres://db.internal: connection refused")}

func (s *shaky) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	if s.away.Load() {
		return func(yield func(pawl.Head, error) bool) { yield(pawl.Head{}, errAway) }
	}
	return s.Journal.List(ctx, q)
}

func (s *shaky) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if s.silent.Load() {
		return l, errAway
	}
	return s.Journal.Send(ctx, l)
}

// shakyHost has signals go there.
type shakyHost struct {
	*world

	journal *shaky
}

func (h shakyHost) Desk(*pawl.State) *engine.Engine { return engine.New(h.journal, nil) }

// A journal that cannot be reached is a temporary failure: the client is asked to
// retry, and does not learn where the journal is.
func TestOutage(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "payer")
	j := &shaky{Journal: w.journal}
	s, err := server.New(j, shakyHost{w, j}, keys, nil)
	must(t, err)
	web := httptest.NewServer(s)
	defer web.Close()
	defer s.Close()
	ask := func(method, path, body string) (status int, text, after string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Host = strings.TrimPrefix(web.URL, "http://")
		r.Header.Set("Authorization", "Bearer "+admin)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		if kind := rec.Header().Get("Content-Type"); rec.Code > 499 && kind != "application/problem+json" {
			t.Errorf("%s %s: it is %q", method, path, kind)
		}
		return rec.Code, rec.Body.String(), rec.Header().Get("Retry-After")
	}
	away := func(method, path, body string) {
		t.Helper()
		status, text, after := ask(method, path, body)
		if status != http.StatusServiceUnavailable || after == "" || !strings.Contains(text, "retry in") || strings.Contains(text, "db.internal") {
			t.Errorf("%s %s: %d, Retry-After %q, %s", method, path, status, after, text)
		}
	}
	at := "/v1/runs/" + run.Run
	j.silent.Store(true)
	away("POST", at+"/calls/"+run.Pending[0].Call+"/approve", "{}")
	j.silent.Store(false)
	j.away.Store(true)
	away("GET", "/v1/runs", "")
	away("GET", at, "")
	away("GET", at+"/events", "")
	away("GET", at+"/explain", "")
	away("POST", at+"/resume", "{}")
	away("POST", "/v1/approvals/lookup", `{"run":"`+run.Run+`","call":"c","token":"t"}`)
	j.away.Store(false)
	if status, text, _ := ask("GET", at, ""); status != http.StatusOK {
		t.Errorf("when it is back: %d %s", status, text)
	}
	j.Journal.Close() // as a second signal does
	away("GET", at, "")
	away("POST", at+"/cancel", "{}")
}
