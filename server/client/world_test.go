package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

const run = "01TESTTESTTESTTESTTESTTEST"

// line is an entry of a log.
func line(t testing.TB, seq uint64, event pawl.Event) string {
	t.Helper()
	e := pawl.Entry{Run: run, Seq: seq, At: seq - min(seq, 1), Time: time.Date(2026, 1, 2, 3, 4, int(seq), 0, time.UTC), Event: event}
	b, err := e.AppendJSON(nil)
	must(t, err)
	return string(b)
}

// story is a whole log of so many entries, the last of which ends the run.
func story(t testing.TB, n int) []string {
	t.Helper()
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(t, uint64(i+1), pawl.Noted{By: "test", Name: "n", Value: json.RawMessage(fmt.Sprint(i + 1))})
	}
	lines[n-1] = line(t, uint64(n), pawl.RunStopped{Status: pawl.StatusSuccess})
	return lines
}

// fake serves the nth request of a path with the nth of its answers, and every
// further one with the last.
type fake struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string][]*http.Request
}

func serve(t testing.TB, answers map[string][]http.HandlerFunc) (*fake, *Client) {
	t.Helper()
	f := &fake{seen: map[string][]*http.Request{}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Method + " " + r.URL.EscapedPath()
		f.mu.Lock()
		n := len(f.seen[name])
		f.seen[name] = append(f.seen[name], r.Clone(r.Context()))
		f.mu.Unlock()
		list := answers[name]
		if len(list) == 0 {
			problem(http.StatusNotFound, "there is no "+name)(w, r)
			return
		}
		list[min(n, len(list)-1)](w, r)
	}))
	t.Cleanup(f.Close)
	c, err := New(f.URL, "secret-token", &Options{Timeout: 2 * time.Second, Idle: 2 * time.Second, Patience: time.Second})
	must(t, err)
	return f, c
}

func (f *fake) asked(name string) []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[name]
}

func document(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

func problem(status int, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail})
	}
}

func page(status int, html string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, html)
	}
}

// hang answers never; the request's end lets go of it, which is noticed once its
// body was read.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// cut breaks the connection off.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// event is a frame of a stream.
func event(entry string) string { return "id: 1\nevent: x\ndata: " + entry + "\n\n" }

// stream sends texts one by one, and what comes then.
func stream(then http.HandlerFunc, texts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		for _, text := range texts {
			fmt.Fprint(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		if then != nil {
			_ = http.NewResponseController(w).Flush()
			then(w, r)
		}
	}
}

var must = check.Must
