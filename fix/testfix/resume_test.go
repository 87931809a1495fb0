package testfix_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/journal/memory"
)

// mortal is a journal whose process dies, as seen from the log, when an edit
// has taken place and before that is written down.
type mortal struct {
	*memory.Journal
	edits int // how many may be written down
	dead  bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	for _, record := range b.Records {
		if bytes.Contains(record, []byte(`"type":"tool.finished"`)) && bytes.Contains(record, []byte(`"tool":"repair"`)) {
			if m.edits--; m.edits < 0 {
				m.dead = true
			}
		}
	}
	if m.dead {
		return errDead
	}
	return m.Journal.Append(ctx, b)
}

// A run is killed again and again, each time with an edit made that the log
// knows nothing of, and goes on from the log and the working copy alone.
func TestKilled(t *testing.T) {
	check.SkipShort(t, "it runs go test dozens of times")
	dir := pair(t)
	before := snapshot(t, dir)
	journal := memory.New()
	f, err := testfix.New(t.Context(), dir, mechanic.New(), testfix.Choices{Keep: testfix.Best}, &testfix.Options{StateDir: t.TempDir()})
	must(t, err)
	run, err := engine.New(&mortal{Journal: journal}, nil).Start(t.Context(), f.Agent(), f.Input(), nil)
	must(t, err)
	var result pawl.Result
	deaths := 0
	for {
		result, err = run.Wait(t.Context())
		if err == nil {
			break
		}
		if deaths++; !errors.Is(err, errDead) || deaths > 10 {
			t.Fatalf("death %d: %v", deaths, err)
		}
		must(t, f.Release())
		// Another process: all it has is the journal.
		state, err := engine.Load(t.Context(), journal, run.ID())
		must(t, err)
		source, ours, err := testfix.ParseSource(state.Declaration().Source)
		if err != nil || !ours || source.Keep != testfix.Best {
			t.Fatalf("source %q: %v, %v", state.Declaration().Source, ours, err)
		}
		f, err = testfix.Open(source, mechanic.New(), pawl.Limits{})
		must(t, err)
		run, err = engine.New(&mortal{Journal: journal, edits: deaths}, nil).Resume(t.Context(), f.Agent(), run.ID(), nil)
		must(t, err)
	}
	defer f.Close()
	if deaths < 1 {
		t.Errorf("%d deaths, want more", deaths)
	}
	if result.Status != pawl.StatusSuccess {
		t.Fatalf("%v: %s", result.Status, result.Verdict.Detail)
	}
	if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
		t.Fatalf("the project was touched:\n%s", d)
	}
	out, err := f.Finish(t.Context(), result.Status)
	diff := out.Diff
	must(t, err)
	if d := cmp.Diff([]string{"large.go", "small.go"}, diff.Files()); d != "" {
		t.Errorf("files changed (-want +got):\n%s\n%s", d, diff)
	}
	if n := strings.Count(diff.String(), "\n+"); n != 4 {
		t.Errorf("the diff adds %d lines with its headers, want 4:\n%s", n, diff)
	}
	must(t, f.Apply(diff))
	must(t, retest(t, dir))
	if _, err := engine.New(journal, nil).Replay(t.Context(), f.Agent(), run.ID()); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// A run that is parked in the middle goes on in the same copy.
func TestParked(t *testing.T) {
	check.SkipShort(t, "it runs go test dozens of times")
	dir := pair(t)
	journal := memory.New()
	f := open(t, dir, mechanic.New(), nil)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	run, err := engine.New(journal, nil).Start(ctx, f.Agent(), f.Input(), nil)
	must(t, err)
	for e, err := range run.Entries(t.Context()) {
		must(t, err)
		if s, ok := e.Event.(pawl.ToolStarted); ok && s.Tool == "repair" {
			stop(errors.New("somebody pressed Ctrl-C"))
		}
	}
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != pawl.StatusPaused {
		t.Fatalf("%v, %v, want paused", result.Status, err)
	}
	run, err = engine.New(journal, nil).Resume(t.Context(), f.Agent(), run.ID(), nil)
	must(t, err)
	if result, err = run.Wait(t.Context()); err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v, want success: %s", result.Status, err, result.Verdict.Detail)
	}
}

// A model that gave up is asked again when its run is resumed, and not for ever.
func TestGivesUpAgain(t *testing.T) {
	dir := project(t, "build")
	answers := 0
	f := open(t, dir, pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		answers++
		return pawl.Say(fmt.Sprintf("I give up (%d).", answers)), nil
	}), nil)
	e := engine.New(memory.New(), nil)
	run, err := e.Start(t.Context(), f.Agent(), f.Input(), nil)
	for want := 2; want <= 6; want += 2 {
		must(t, err)
		result, err2 := run.Wait(t.Context())
		if err2 != nil || result.Status != pawl.StatusNoProgress || answers != want {
			t.Fatalf("%v, %v after %d answers, want no_progress after %d", result.Status, err2, answers, want)
		}
		if text := fmt.Sprintf("I give up (%d).", want); !strings.Contains(result.Verdict.Detail, text) {
			t.Errorf("detail %q, want %q in it", result.Verdict.Detail, text)
		}
		run, err = e.Resume(t.Context(), f.Agent(), run.ID(), nil)
	}
}

var must, write, call = check.Must, check.Write, modeltest.Call
