package fakeprovider

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// unstreamed asks for the same as bodies, whole.
func unstreamed(w Wire) (path, body string) {
	path, body = paths[w], strings.Replace(bodies[w], `"stream":true`, `"stream":false`, 1)
	if w == Google {
		path = strings.Replace(path, "streamGenerateContent?alt=sse", "generateContent", 1)
	}
	return path, strings.Replace(body, `"stream_options":{"include_usage":true},`, "", 1)
}

// TestSameAgain: what follows from the seed is the same each time, and the brain
// hears which attempt a request is.
func TestSameAgain(t *testing.T) {
	var attempts []int
	brain := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		attempts = append(attempts, r.Attempt)
		return lookup(), nil
	})
	seen := map[string]bool{}
	for _, seed := range []uint64{1, 1, 2} {
		_, url := serve(t, brain, &Options{Seed: seed})
		for range 2 {
			seen[look(t, newClient(t), url, Chat, Fault{}).body] = true
		}
	}
	if len(seen) != 4 { // each seed has two requests
		t.Errorf("%d answers differ, want 4", len(seen))
	}
	if d := cmp.Diff([]int{1, 2, 1, 2, 1, 2}, attempts); d != "" {
		t.Errorf("attempts (-want +got):\n%s", d)
	}
}

// TestHTTP2 breaks streams where there is no connection to break.
func TestHTTP2(t *testing.T) {
	for _, name := range []string{"reset-mid-stream", "drop-mid-stream", "reset-before-headers"} {
		fake := New(script.Replies(lookup()), &Options{Faults: []Fault{Must(name)}})
		srv := httptest.NewUnstartedServer(fake)
		srv.EnableHTTP2 = true
		srv.StartTLS()
		got := look(t, srv.Client(), srv.URL, Anthropic, Fault{})
		if got.err == nil || got.hung || (got.status == http.StatusOK) != strings.HasSuffix(name, "stream") {
			t.Errorf("%s: %d, %v", name, got.status, got.err)
		}
		if after := look(t, srv.Client(), srv.URL, Anthropic, Fault{}); !after.whole() {
			t.Errorf("%s: then %v", name, after.err)
		}
		fake.Close()
		srv.Close()
	}
}

// TestClose ends what would never end, and a brain that would never answer,
// while their clients still wait.
func TestClose(t *testing.T) {
	waiting := pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		<-ctx.Done()
		return pawl.Reply{}, ctx.Err()
	})
	for _, name := range append([]string{""}, hangs...) {
		var brain pawl.Model = waiting
		o := &Options{}
		if name != "" {
			brain, o.Faults = script.Replies(lookup()), []Fault{Must(name)}
		}
		fake := New(brain, o)
		srv := httptest.NewServer(fake)
		done := make(chan sight, 1)
		go func() { done <- look(t, newClient(t), srv.URL, Anthropic, Fault{}) }()
		for len(fake.Requests()) == 0 {
			time.Sleep(time.Millisecond)
		}
		fake.Close()
		if got := <-done; got.hung || got.err == nil {
			t.Errorf("%s: %d, %v: %s", name, got.status, got.err, got.body)
		}
		srv.Close()
	}
}

// TestLatency waits before the first byte and between events.
func TestLatency(t *testing.T) {
	_, url := serve(t, script.Replies(pawl.Say("Well.")), &Options{Latency: 5 * time.Millisecond})
	got := look(t, newClient(t), url, Anthropic, Fault{})
	if least := time.Duration(count(got.body)) * 5 * time.Millisecond; !got.whole() || got.took < least {
		t.Errorf("%d events took %v, want %v at least", count(got.body), got.took, least)
	}
}
