package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// A server that serves ends with its context: it takes nothing more, who waits is
// answered, and what is asked of nothing in particular was refused as all else.
func TestServe(t *testing.T) {
	w := serve(t, nil)
	s, err := server.New(w.journal, w, keys, nil)
	must(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 403 ") {
		t.Errorf("%v: %s", err, got)
	}
	answered := make(chan pawl.Result, 1)
	go func() {
		var r pawl.Result
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/v1/runs?wait=true", strings.NewReader(`{"agent":"holder","input":"x"}`))
		if err == nil {
			req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + admin}}
			var res *http.Response
			if res, err = http.DefaultTransport.RoundTrip(req); err == nil {
				err = json.NewDecoder(res.Body).Decode(&r)
				_ = res.Body.Close()
			}
		}
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	for end := time.Now().Add(time.Minute); count(w, "?status=running") == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	end()
	if r := <-answered; r.Status != pawl.StatusPaused {
		t.Errorf("who waited was told %v", r.Status)
	}
	must(t, <-ended)
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it listens on")
	}
}

// Who asks for much and reads none of it is not waited for.
func TestSlowReader(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "calm").Run
	w.server.SetPatience(100 * time.Millisecond)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.web.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	for range 3000 { // answers of which nobody reads one fill what lies between
		must(t, conn.SetDeadline(time.Now().Add(300*time.Millisecond)))
		if _, err := fmt.Fprintf(conn, "GET /v1/runs/%s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", run, w.web.Listener.Addr(), admin); err != nil {
			break
		}
	}
	closed := make(chan struct{})
	go func() { w.web.Close(); close(closed) }() // waits for all requests
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("a request is still being answered")
	}
}

// A server whose listener fails ends with its error, whatever it would have started later.
func TestServeWithoutListener(t *testing.T) {
	w := serve(t, nil)
	s, err := server.New(w.journal, w, keys, &server.Options{Triggers: []server.Trigger{{Agent: "calm", Cron: "0 8 * * *"}}})
	must(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), l) }()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
}
