//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
)

// A follower collects what a watch yields.
type follower struct {
	mu    sync.Mutex
	heard []string
	ended chan struct{}
}

func follow(ctx context.Context, t *testing.T, watch func(context.Context) iter.Seq2[string, error]) *follower {
	t.Helper()
	f := &follower{ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for run, err := range watch(ctx) {
			if err != nil {
				t.Error(err)
			}
			f.mu.Lock()
			f.heard = append(f.heard, run)
			f.mu.Unlock()
		}
	}()
	f.hears(t, "")
	return f
}

// hears waits for word of a run, and forgets all that has come so far.
func (f *follower) hears(t *testing.T, run string) {
	t.Helper()
	until(t, fmt.Sprintf("a watcher hears of %q", run), func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		i := slices.Index(f.heard, run)
		if i >= 0 {
			f.heard = f.heard[i+1:]
		}
		return i >= 0
	})
}

func post(t *testing.T, j *postgres.Journal, run, request string) {
	t.Helper()
	_, err := j.Send(t.Context(), pawl.Signal{Run: run, Kind: pawl.SignalCancel, Request: request, Body: []byte(`1`)})
	must(t, err)
}

// listeners counts the connections that listen.
func listeners(t *testing.T, j *postgres.Journal) int {
	t.Helper()
	c, err := j.Conn(t.Context())
	must(t, err)
	defer c.Release()
	var n int
	must(t, c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`).Scan(&n))
	return n
}

func TestWatch(t *testing.T) {
	other, schema := prepared(t)
	j := openAt(t, started(t).url(), schema)
	ctx, cancel := context.WithCancel(t.Context())
	mail, second, logs := follow(ctx, t, j.WatchSignals), follow(ctx, t, j.WatchSignals), follow(ctx, t, j.WatchLogs)
	if n := listeners(t, j); n != 2 {
		t.Errorf("%d connections listen to two kinds of news", n)
	}

	post(t, other, "r", "one")
	mail.hears(t, "r")
	second.hears(t, "r")
	must(t, other.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("two")}}))
	logs.hears(t, "r")
	mail.mu.Lock()
	if len(mail.heard) > 0 {
		t.Errorf("a watcher of signals is told of %q", mail.heard)
	}
	mail.mu.Unlock()

	for _, run := range []string{"ünï\x00\xff'\"", random(2000)} {
		_, err := other.Claim(t.Context(), pawl.Claim{Run: run, Owner: "o", TTL: time.Hour, New: true})
		must(t, err)
		post(t, other, run, random(100_000))
		mail.hears(t, run)
	}

	// A broken connection is replaced, and the gap is announced.
	raw(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`)
	mail.hears(t, "")
	logs.hears(t, "")
	post(t, other, "r", "two")
	mail.hears(t, "r")

	// Appends of a process that ends at once are told, too.
	must(t, other.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, After: 2, Records: [][]byte{[]byte("three")}}))
	must(t, other.Close())
	logs.hears(t, "r")

	cancel()
	for _, f := range []*follower{mail, second, logs} {
		<-f.ended
	}
	until(t, "nobody listens when nobody watches", func() bool { return listeners(t, j) == 0 })
	again := follow(t.Context(), t, j.WatchSignals)
	must(t, j.Close())
	<-again.ended
	for range j.WatchLogs(t.Context()) {
		t.Error("a closed journal has news")
	}
}

// random is text that cannot be made shorter.
func random(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return string(b)
}

// TestLong uses texts that no index takes as they are.
func TestLong(t *testing.T) {
	j, _ := prepared(t)
	h := pawl.Head{Agent: random(50_000), Labels: map[string]string{"long": strings.Repeat("ü", 50_000), "a": "b"}, Status: pawl.StatusRunning}
	must(t, j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("x")}, Head: h}))
	for _, q := range []pawl.Query{{Agent: h.Agent}, {Labels: h.Labels}, {Labels: map[string]string{"long": h.Labels["long"]}, Agent: h.Agent}} {
		n := 0
		for got, err := range j.List(t.Context(), q) {
			if n++; err != nil || got.Run != "r" || got.Agent != h.Agent || got.Labels["long"] != h.Labels["long"] {
				t.Error(got.Run, err)
			}
		}
		if n != 1 {
			t.Errorf("%d runs were found", n)
		}
	}
	if _, err := j.Claim(t.Context(), pawl.Claim{Run: random(2001), TTL: time.Hour, New: true}); err == nil || !strings.Contains(err.Error(), "2000") {
		t.Errorf("an id that is too long: %v", err)
	}
}
