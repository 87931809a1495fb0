package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/spec"
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
		_, err := e.Queue(t.Context(), pawl.Agent{Name: agent, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil })}, "go", &engine.StartOptions{ID: agent})
		must(t, err)
		var said bytes.Buffer
		a := &app{console: console{err: screen.NewWriter(&said)}}
		s := &square{polled: map[string]bool{"known": true}}
		if err := handRun(t.Context(), a, s, j, agent, "temporal://h/n"); err != nil || s.started != agent || !strings.HasSuffix(said.String(), want) || want == "" && said.Len() > 0 {
			t.Errorf("%s: %v; started %q, said %q", agent, err, s.started, said.String())
		}
	}
}

func (s *square) Close() {}

// The doctor says of Temporal what is there, and what is not.
func TestDoctorOn(t *testing.T) {
	agents := []*spec.Spec{{}, {}}
	agents[0].Name, agents[1].Name = "known", "lone"
	for want, err := range map[string]error{
		"error temporal: no Temporal server answers at h → \n": errors.New("no Temporal server answers at h"),
		"ok temporal: the server of temporal://h/n answers → \n" +
			"ok worker: a worker asks for runs of known → \n" +
			"warning worker: no worker asks for runs of lone, which wait for one → start one: pawl worker SPEC --on temporal://h/n\n": nil,
	} {
		got := examined(nil, func(d *doctor) {
			d.dial = func(context.Context, string, *slog.Logger) (Dispatch, error) {
				return &square{polled: map[string]bool{"known": true}}, err
			}
			d.dispatcher(t.Context(), "temporal://h/n", agents)
		})
		if got != want {
			t.Errorf("%v: it says\n%swant\n%s", err, got, want)
		}
	}
}
