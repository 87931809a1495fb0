package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A square has workers of some agents.
type square struct {
	Dispatch

	polled  map[string]bool
	started string
}

func (s *square) Start(_ context.Context, h pawl.Head) error { s.started = h.Run; return nil }

func (s *square) Polled(_ context.Context, agent string) (bool, error) { return s.polled[agent], nil }

// A run is handed over also if no worker has its agent, and the caller hears of that.
func TestHandRun(t *testing.T) {
	j := memoryStore{memory.New()}
	e := engine.New(j, nil)
	defer e.Close()
	for agent, want := range map[string]string{
		"known": "",
		"lone":  "no worker asks for runs of lone; run lone waits for one: pawl worker SPEC --on temporal://h/n\n",
	} {
		if _, err := e.Queue(t.Context(), pawl.Agent{Name: agent, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil })}, "go", &engine.StartOptions{ID: agent}); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		a := &app{console: console{err: &lockedWriter{w: &said}}}
		s := &square{polled: map[string]bool{"known": true}}
		if err := handRun(t.Context(), a, s, j, agent, "temporal://h/n"); err != nil || s.started != agent || !strings.HasSuffix(said.String(), want) || want == "" && said.Len() > 0 {
			t.Errorf("%s: %v; started %q, said %q", agent, err, s.started, said.String())
		}
	}
}
