package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// asks holds every call until it is approved.
type asks struct{}

func (asks) String() string { return "asks" }

func (asks) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	calls := append([]pawl.Classified{}, act.Calls...)
	for i, d := range calls {
		if c, known := s.Call(d.Call.ID); known && c.Phase == pawl.PhaseUndecided && d.Do == pawl.CallRun {
			calls[i].Do, calls[i].Why = pawl.CallAsk, "it deletes"
		}
	}
	return pawl.Act{Calls: calls}
}

type path struct {
	Path string `json:"path"`
}

// guarded is an agent of a Go program: the command line does not know it.
func guarded() pawl.Agent {
	return pawl.Agent{
		Name: "guarded", Policies: []pawl.Policy{asks{}},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) > 1 {
				return pawl.Say("tidy"), nil
			}
			return pawl.Do(pawl.Call{Tool: "delete", Args: json.RawMessage(`{"path":"a"}`)}, pawl.Call{Tool: "delete", Args: json.RawMessage(`{"path":"b"}`)}), nil
		}),
		Tools: []pawl.Tool{tool.Func("delete", "Delete a file.", func(_ context.Context, p path) (string, error) { return "deleted " + p.Path, nil }, pawl.Idempotent)},
	}
}

func database(t *testing.T) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(t.Context(), "runs.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// A run of another program is decided on from the command line.
func TestApproving(t *testing.T) {
	files(t, nil)
	j := database(t)
	e := engine.New(j, nil)
	run, err := e.Start(t.Context(), guarded(), "tidy up", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := run.Wait(t.Context()); err != nil || r.Status != pawl.StatusWaitingApproval {
		t.Fatalf("%v, %v", r.Status, err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"approve last --no-continue", 2, "several calls"},
		{"approve last --no-continue", 2, `approval c_2: delete {"path":"b"}: it deletes`},
		{"approve last c_1 c_2 --args {} --no-continue", 2, "to one call"},
		{"approve last c_1 --args { --no-continue", 2, "not JSON"},
		{"approve last c_1 --all --no-continue", 2, "not both"},
		{"approve last c_9 --no-continue", 2, "no call c_9"},
		{"approve last c_1 --no-continue --by ann", 0, "go on with"},
		{"approve last c_1 --no-continue", 0, "go on with"},
		{"deny last c_1 --no-continue", 2, "already given by ann"},
		{"deny last c_2 --reason precious --no-continue", 0, "go on with"},
		{"approve last --all --no-continue", 2, "already given"},
		{"approve last c_1 --continue", 2, "was not started from a spec"},
	} {
		code, stdout, stderr := invoke(t, t.Context(), nil, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.args, code, c.code, stdout, stderr)
		}
	}
	again, err := e.Resume(t.Context(), guarded(), run.ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := again.Wait(t.Context())
	if err != nil || r.Answer != "tidy" || r.ToolCalls != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A log cannot know that the time for an answer is over; whoever looks can.
func TestExpired(t *testing.T) {
	files(t, nil)
	j := database(t)
	m, err := pawl.NewMachine(pawl.Agent{Name: "late", Model: pawl.ModelFunc(nil), Builtins: true})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "late", Owner: "a test", TTL: time.Minute, New: true})
	if err != nil {
		t.Fatal(err)
	}
	ask := pawl.Call{ID: "c_1", Tool: "__pause_for_human__", Args: json.RawMessage(`{"question":"Now?"}`)}
	batch := pawl.Batch{Run: "late", Epoch: lease.Epoch}
	s := new(pawl.State)
	for i, event := range []pawl.Event{
		pawl.RunStarted{Declaration: m.Declaration(), Input: "go", Owner: "a test", Epoch: lease.Epoch},
		pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1, Reserved: 10, MaxTokens: 5},
		pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Do(ask)},
		pawl.InputRequested{Call: "c_1", Question: "Now?", Expires: time.Now().Add(-time.Minute)},
		pawl.RunPaused{Status: pawl.StatusWaitingInput, Reason: "Now?"},
	} {
		entry := pawl.Entry{Run: "late", Seq: uint64(i + 1), At: uint64(i), Time: time.Now().Add(-time.Hour), Iteration: min(i, 1), Event: event}
		line, err := entry.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		batch.Records = append(batch.Records, line)
		s.Fold(entry)
	}
	batch.Head = s.Head()
	if err := j.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Claim(t.Context(), pawl.Claim{Run: "late", Owner: "a test", Epoch: lease.Epoch}); err != nil {
		t.Fatal(err)
	}
	for args, code := range map[string]int{"runs --json": 0, "runs --json --status expired": 0, "show late --json": 0, "explain la --json": 0, "wait late --json": 5} {
		got, stdout, stderr := invoke(t, t.Context(), nil, strings.Fields(args)...)
		if got != code || !strings.Contains(stdout, `"status":"expired"`) {
			t.Errorf("%s: exit %d, want %d\n%s%s", args, got, code, stdout, stderr)
		}
	}
	if _, stdout, _ := invoke(t, t.Context(), nil, "runs", "--json", "--status", "waiting_input"); stdout != "" {
		t.Errorf("an expired run is listed as waiting: %s", stdout)
	}
}
