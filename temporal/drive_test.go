package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/tool"
)

// A house hosts one agent on a journal on disk.
type house struct {
	*engine.Engine

	t       *testing.T
	journal *sqlite.Journal
	agent   pawl.Agent
	failing error // what Again fails with; nil: it works
}

func newHouse(t *testing.T, agent pawl.Agent) *house {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	h := &house{Engine: engine.New(j, nil), t: t, journal: j, agent: agent}
	t.Cleanup(func() { must(t, errors.Join(h.Close(), j.Close())) })
	return h
}

func (h *house) Names(context.Context) ([]string, error) { return []string{h.agent.Name}, nil }

func (h *house) Again(context.Context, *pawl.State) (worker.Work, error) {
	return worker.Work{Agent: h.agent, Engine: h.Engine}, h.failing
}

// begin queues a run.
func (h *house) begin(run string) {
	h.t.Helper()
	if _, err := h.Queue(h.t.Context(), h.agent, "go", &engine.StartOptions{ID: run}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) head(run string) pawl.Head {
	h.t.Helper()
	head, err := runs.Head(h.t.Context(), h.journal, run)
	must(h.t, err)
	return head
}

// A shift is a worker's activities in the environment of a test.
type shift struct {
	*testsuite.TestActivityEnvironment

	mu    sync.Mutex
	beats []string
}

func (h *house) shift() *shift {
	s := &shift{TestActivityEnvironment: quiet().NewTestActivityEnvironment()}
	d := &driver{journal: h.journal, host: h, worker: worker.New(h.journal, h, nil), log: slog.New(slog.DiscardHandler)}
	s.RegisterActivityWithOptions(d.Drive, activity.RegisterOptions{Name: driveType})
	s.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var text string
		if err := details.Get(&text); err != nil {
			h.t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.beats = append(s.beats, text)
	})
	return s
}

func (s *shift) drive(run string) (rest Rest, err error) {
	value, err := s.ExecuteActivity(driveType, Input{run, "mailer"})
	if err == nil {
		err = value.Get(&rest)
	}
	return rest, err
}

// mailer asks before it sends a mail, twice, and then is done.
func mailer(sent *[]string) pawl.Agent {
	type mail struct {
		To string `json:"to"`
	}
	turn := 0
	return pawl.Agent{
		Name: "mailer",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if turn++; turn > 2 {
				return pawl.Say("sent"), nil
			}
			return pawl.Do(pawl.Call{Tool: "send_mail", Args: json.RawMessage(fmt.Sprintf(`{"to":"%d"}`, turn))}), nil
		}),
		Tools: []pawl.Tool{tool.Func("send_mail", "Send a mail.", func(_ context.Context, m mail) (string, error) {
			*sent = append(*sent, m.To)
			return "ok", nil
		}, pawl.Write)},
		Policies: []pawl.Policy{approval.ForEffect(pawl.Write)},
	}
}

func (h *house) approve(run string) {
	h.t.Helper()
	to, err := runs.Address(h.t.Context(), h.journal, run, func(*pawl.State) runs.Sender { return h.Engine })
	if err == nil {
		err = to.Signal(h.t.Context(), to.Pending[0].Call, runs.Approval("ada", nil))
	}
	must(h.t, err)
}

// One drive takes a run from one wait to the next. A drive without a reason changes nothing.
func TestDrive(t *testing.T) { // Promises: N8.
	var sent []string
	h := newHouse(t, mailer(&sent))
	h.begin("r1")
	s := h.shift()
	rest, err := s.drive("r1")
	if err != nil || rest.Status != "waiting_approval" || rest.Over || fmt.Sprint(rest.Waits) != "[approval:send_mail]" || rest.About != "iteration 1" {
		t.Fatalf("%+v, %v", rest, err)
	}
	if again, err := s.drive("r1"); err != nil || again.Seq != rest.Seq || h.head("r1").Seq != rest.Seq {
		t.Errorf("without a reason it went on: %+v, %v", again, err)
	}
	for range 2 {
		h.approve("r1")
		rest, err = s.drive("r1")
	}
	if err != nil || rest.Status != "success" || !rest.Over || fmt.Sprint(sent) != "[1 2]" || rest.Seq != h.head("r1").Seq {
		t.Errorf("sent %q: %+v, %v", sent, rest, err)
	}
	if again, err := s.drive("r1"); err != nil || again.Status != "success" || !again.Over {
		t.Errorf("after its end: %+v, %v", again, err)
	}
	if len(s.beats) == 0 || s.beats[0] != "iteration 0" {
		t.Errorf("beats %q", s.beats)
	}
}

// A run that waits for a time is left until then, and driven earlier only for its signal.
func TestDriveWaits(t *testing.T) {
	h := newHouse(t, pawl.Agent{Name: "mailer", Tools: []pawl.Tool{tool.Wait(&tool.WaitOptions{Signals: []string{"ready"}})}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 1 {
			return pawl.Say("awake"), nil
		}
		return pawl.Do(pawl.Call{Tool: "wait", Args: json.RawMessage(`{"for":"1h","signal":"ready"}`)}), nil
	})})
	h.begin("r1")
	rest, err := h.shift().drive("r1")
	if at := h.head("r1").WakeAt; err != nil || rest.Status != "paused" || !rest.WakeAt.Equal(at) || time.Until(at) < 50*time.Minute {
		t.Fatalf("%+v until %v, %v", rest, at, err)
	}
	if again, err := h.shift().drive("r1"); err != nil || again.Seq != rest.Seq {
		t.Errorf("before its time it went on: %+v, %v", again, err)
	}
	must(t, h.Say(t.Context(), "r1", "ada", "go on", &engine.SayOptions{Signal: "ready"}))
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != "success" {
		t.Errorf("with its signal: %+v, %v", rest, err)
	}
}

// What passes by itself is an error, which Temporal retries; everything else is a status.
func TestDriveFails(t *testing.T) {
	var sent []string
	h := newHouse(t, mailer(&sent))
	h.begin("r1")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&pawl.HeldError{Lease: pawl.Lease{Run: "r1", Owner: `{"host":"far","pid":7}`}}, "error: run r1 is being driven by process 7 of far; "},
		{pawl.ErrFenced, "error: another owner"},
		{pawl.ErrConflict, "error: the log does not end"},
		{&retry.Error{Err: errors.New("connection refused")}, "error: connection refused"},
		{&engine.BusyError{}, "error: "},
		{&engine.ChangedError{Run: "r1", Parts: []string{"prompt"}}, "refused: run r1 began with another agent: prompt changed"},
		{errors.New("no such file: tools.yaml"), "refused: no such file: tools.yaml"},
	} {
		h.failing = c.err
		rest, err := h.shift().drive("r1")
		got := "error: " + fmt.Sprint(errors.Unwrap(err))
		if err == nil {
			got = rest.Status + ": " + rest.Why
		}
		if !strings.HasPrefix(got, c.want) || rest.Over || h.head("r1").Status != pawl.StatusQueued {
			t.Errorf("%v: %q; want %q", c.err, got, c.want)
		}
	}
	h.failing = nil
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != "waiting_approval" {
		t.Errorf("afterwards: %+v, %v", rest, err)
	}
	if rest, err := h.shift().drive("unknown"); err != nil || rest.Status != StatusGone || !rest.Over {
		t.Errorf("an unknown run: %+v, %v", rest, err)
	}
}

// A run whose agent changed is refused as it stands.
func TestDriveChanged(t *testing.T) {
	var sent []string
	h := newHouse(t, mailer(&sent))
	h.begin("r1")
	was := h.agent.Prompt
	h.agent.Prompt = "Be quick."
	before := h.head("r1").Seq
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != StatusRefused || rest.Seq != before || !strings.Contains(rest.Why, "prompt") {
		t.Errorf("%+v, %v", rest, err)
	}
	h.agent.Prompt = was
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != "waiting_approval" {
		t.Errorf("with its own agent: %+v, %v", rest, err)
	}
}

// A worker that stops hands its runs on, and another one goes on with them. What
// Temporal says of the activity changes nothing.
func TestDriveHandsOn(t *testing.T) {
	begun, calls := make(chan struct{}, 1), 0
	agent := pawl.Agent{Name: "mailer", Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		if calls++; calls > 1 {
			return pawl.Say("done"), nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		return pawl.Reply{}, ctx.Err()
	})}
	h := newHouse(t, agent)
	h.begin("r1")
	s := h.shift()
	stop := make(chan struct{})
	s.SetWorkerStopChannel(stop)
	go func() {
		<-begun
		close(stop)
	}()
	rest, err := s.drive("r1")
	if err != nil || rest.Status != "queued" || runs.Owned(h.head("r1").Lease) {
		t.Fatalf("%+v, %v", rest, err)
	}
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != "success" {
		t.Errorf("%+v, %v", rest, err)
	}
}

// A run that ends one worker after the other is left alone.
func TestDrivePoison(t *testing.T) {
	h := newHouse(t, pawl.Agent{Name: "mailer", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Say("done"), nil
	})})
	h.begin("r1")
	for range 5 { // an owner that dies at once
		ctx, cancel := context.WithCancel(t.Context())
		at := h.head("r1")
		_, err := engine.New(dying{h.journal, at.Seq + 1}, nil).Resume(ctx, h.agent, "r1", nil)
		must(t, err)
		for h.head("r1").Seq == at.Seq {
			time.Sleep(time.Millisecond)
		}
		cancel()
		for runs.Owned(h.head("r1").Lease) {
			time.Sleep(time.Millisecond)
		}
	}
	if rest, err := h.shift().drive("r1"); err != nil || rest.Status != StatusRefused || !strings.Contains(rest.Why, "its process ended 5 times") {
		t.Errorf("%+v, %v", rest, err)
	}
}

// dying is a journal that takes one entry and then nothing.
type dying struct {
	*sqlite.Journal

	last uint64
}

func (d dying) Append(ctx context.Context, b pawl.Batch) error {
	if b.After >= d.last {
		return errors.New("the process is dead")
	}
	return d.Journal.Append(ctx, b)
}

// A heartbeat follows what the run does. A call in flight beats until its time-out is over.
func TestPulse(t *testing.T) {
	p := &pulse{limits: map[string]time.Duration{"build": time.Hour}, flight: map[string]time.Time{}}
	beats := 0
	p.tell = func(string) { beats++ }
	now := time.Now()
	saw := func(e pawl.Event) bool { return p.saw(pawl.Entry{Seq: 1, Iteration: 3, Event: e}) }
	quiet := func(after time.Duration) int {
		beats = 0
		p.quiet(now.Add(after))
		return beats
	}
	if !saw(pawl.Observed{}) || quiet(time.Second) != 0 {
		t.Error("it beats with nothing in flight")
	}
	if saw(pawl.ModelCalled{}) || quiet(9*time.Minute) != 1 || quiet(11*time.Minute) != 0 {
		t.Error("a model call beats for ten minutes")
	}
	saw(pawl.ModelReplied{})
	saw(pawl.ToolStarted{Call: "c_1", Tool: "build"})
	if saw(pawl.ToolStarted{Call: "c_2", Tool: "look"}) || quiet(59*time.Minute) != 1 || quiet(2*time.Hour) != 0 || p.about != "iteration 3, look" {
		t.Errorf("a call beats as long as its tool may take; it is at %s", p.about)
	}
	if saw(pawl.ToolFinished{Call: "c_1", Tool: "build"}) || quiet(time.Minute) != 1 || quiet(2*time.Minute) != 0 {
		t.Error("the other call beats no longer than its own tool may take")
	}
	if !saw(pawl.ToolFinished{Call: "c_2", Tool: "look"}) || quiet(0) != 0 {
		t.Error("it beats after the calls ended")
	}
}
