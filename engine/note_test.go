package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// noter notes how many tool results it has seen.
type noter struct{}

func (noter) Name() string { return "counter" }

func (noter) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	if _, ok := e.Event.(pawl.ToolFinished); !ok {
		return engine.Direction{}
	}
	return engine.Direction{Notes: []pawl.Noted{
		{Name: "calls", Value: json.RawMessage(`{"seen": "` + e.Type() + `"}`)},
		{Name: "broken", Value: json.RawMessage(`{`)},
	}}
}

// A hook and another process add notes to a run. Policies can read them, they survive a
// suspension, they wake nobody, and replay agrees.
func TestNotes(t *testing.T) {
	ctx := t.Context()
	j, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer j.Close()
	ask := tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) { return "seen", nil }, pawl.Read)
	calls := 0
	agent := pawl.Agent{
		Name: "noted", Tools: []pawl.Tool{ask, tool.AskHuman()},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			calls++
			switch calls {
			case 1, 2:
				return pawl.Reply{Parts: []pawl.Part{pawl.Call{ID: "l", Tool: "look", Args: json.RawMessage(`{}`)}}}, nil
			case 3:
				return pawl.Reply{Parts: []pawl.Part{pawl.Call{ID: "q", Tool: "ask_human", Args: json.RawMessage(`{"question":"Which?"}`)}}}, nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}}, nil
		}),
	}
	eng := engine.New(j, &engine.Options{Hooks: []engine.Hook{noter{}}, Secrets: map[string]string{"KEY": "hunter2hunter2"}})
	run, err := eng.Start(ctx, agent, "Look.", nil)
	must(t, err)
	result, err := run.Wait(ctx)
	if err != nil || result.Status != pawl.StatusWaitingInput {
		t.Fatalf("%v, %v: want a question", result.Status, err)
	}
	other := engine.New(j, nil)
	must(t, eng.Note(ctx, run.ID(), "ops", "ticket", map[string]string{"id": "T-7", "key": "hunter2hunter2"}))
	for _, bad := range [][2]string{{"", "x"}, {"ops", ""}, {"hook counter", "x"}, {"__import__", "imported"}} {
		if err := other.Note(ctx, run.ID(), bad[0], bad[1], 1); err == nil {
			t.Errorf("a note %q by %q is taken", bad[1], bad[0])
		}
	}
	if woken, err := engine.Signalled(ctx, j, run.ID()); err != nil || woken {
		t.Errorf("the note wakes the run: %v, %v", woken, err)
	}
	call := result.Pending[0].Call
	must(t, other.Answer(ctx, run.ID(), call, "ann", "This."))
	again, err := eng.Resume(ctx, agent, run.ID(), nil)
	must(t, err)
	if result, err = again.Wait(ctx); err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v", result.Verdict, err)
	}
	var notes []string
	for e := range entriesOf(t, j, run.ID()) {
		if n, ok := e.Event.(pawl.Noted); ok {
			notes = append(notes, n.By+" "+n.Name+" "+string(n.Value))
		}
	}
	want := `hook counter calls {"seen":"tool.finished"}, ops ticket {"id":"T-7","key":"{{secret:KEY}}"}`
	if got := strings.Join(notes, ", "); got != want {
		t.Errorf("the log has the notes\n%s, want\n%s", got, want)
	}
	s, err := engine.Load(ctx, j, run.ID())
	must(t, err)
	if v, ok := s.Note("hook counter", "calls"); !ok || string(v) != `{"seen":"tool.finished"}` {
		t.Errorf("a policy reads %s, %v", v, ok)
	}
	replays(t, eng, agent, run.ID())
	if err := other.Note(ctx, run.ID(), "ops", "late", 1); err == nil || !strings.Contains(err.Error(), "is over") {
		t.Errorf("a note to a run that has ended: %v", err)
	}
}

// What an adapter changed in requests is in the log, each text once, without secrets.
func TestAdapted(t *testing.T) {
	const left = "the server refused temperature: it was left out"
	replies := [][]string{{left}, {left}, {"effort is low", left, "the key is hunter2-hunter2"}, nil}
	turn := 0
	look := tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) { return "seen", nil }, pawl.Read)
	agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{look}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		turn++
		reply := pawl.Do(pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{}`)})
		if turn == len(replies) {
			reply = pawl.Say("done")
		}
		reply.Notes = replies[turn-1]
		return reply, nil
	})}
	j := memory.New()
	e := engine.New(j, &engine.Options{Secrets: map[string]string{"KEY": "hunter2-hunter2"}})
	defer e.Close()
	h, err := e.Start(t.Context(), agent, "go", nil)
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	var got []string
	for entry := range entriesOf(t, j, h.ID()) {
		if n, ok := entry.Event.(pawl.Noted); ok {
			got = append(got, n.By+" "+n.Name+" "+string(n.Value))
		}
	}
	want := []string{
		`__model__ adapted ["` + left + `"]`,
		`__model__ adapted ["` + left + `","effort is low","the key is {{secret:KEY}}"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("noted are\n%q, want\n%q", got, want)
	}
	replays(t, e, agent, h.ID())
}
