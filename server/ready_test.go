package server_test

import (
	"context"
	"iter"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/server"
)

// silent is a journal whose disk does not answer.
type silent struct {
	server.Store

	ends chan struct{}
}

func (d silent) List(context.Context, pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(func(pawl.Head, error) bool) { <-d.ends }
}

// A server is alive but not ready when its journal cannot be reached, or while it closes.
func TestReady(t *testing.T) {
	w := serve(t, nil)
	j := &shaky{Journal: w.journal}
	s, err := server.New(j, shakyHost{w, j}, keys, nil)
	must(t, err)
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	j.away.Store(true)
	if err := s.Ready(t.Context()); err == nil {
		t.Error("it is ready without its journal")
	}
	w.server.Close()
	w.refused("", "GET", "/readyz", "", http.StatusServiceUnavailable, "closing")
	if res, _ := w.send(request{method: "GET", path: "/healthz"}); res.StatusCode != http.StatusOK {
		t.Errorf("while it closes it is not alive: %d", res.StatusCode)
	}
}

// A journal that never answers does not hold the probe up.
func TestReadyOfSilentJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := silent{memory.New(), make(chan struct{})}
		defer close(j.ends)
		s, err := server.New(j, nil, keys, nil)
		must(t, err)
		if err := s.Ready(t.Context()); err == nil {
			t.Error("it is ready")
		}
	})
}
