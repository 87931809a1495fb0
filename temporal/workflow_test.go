package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-run/pawl"
)

func quiet() *testsuite.WorkflowTestSuite {
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return suite
}

// A stage plays Drive by a script: each drive takes the next rest, and the last for good.
type stage struct {
	*testsuite.TestWorkflowEnvironment

	t      *testing.T
	rests  []Rest
	drives []time.Time // by the workflow's clock
	took   time.Duration
}

func newStage(t *testing.T, rests ...Rest) *stage {
	t.Helper()
	suite := quiet()
	s := &stage{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, rests: rests}
	s.RegisterWorkflowWithOptions(drives, workflow.RegisterOptions{Name: workflowType})
	s.RegisterActivityWithOptions(func(_ context.Context, in Input) (Rest, error) {
		if in != (Input{"r1", "mailer"}) {
			t.Errorf("driven with %v", in)
		}
		s.drives = append(s.drives, s.Now())
		return s.rests[min(len(s.drives), len(s.rests))-1], nil
	}, activity.RegisterOptions{Name: driveType})
	return s
}

// play runs the workflow and returns how it ended. Times are since its start.
func (s *stage) play(at map[time.Duration]func()) (Rest, error) {
	s.t.Helper()
	for after, do := range at {
		s.RegisterDelayedCallback(do, after)
	}
	began := s.Now()
	s.ExecuteWorkflow(workflowType, Input{"r1", "mailer"})
	s.took = s.Now().Sub(began)
	if !s.IsWorkflowCompleted() {
		s.t.Fatal("the workflow has not ended")
	}
	if err := s.GetWorkflowError(); err != nil {
		return Rest{}, err
	}
	var rest Rest
	return rest, s.GetWorkflowResult(&rest)
}

func (s *stage) wake(seq uint64) func() {
	return func() { s.SignalWorkflow(wakeSignal, Wake{seq}) }
}

func waiting(seq uint64) Rest {
	return Rest{Seq: seq, Status: "waiting_approval", Waits: []string{"approval:send"}}
}

func over(seq uint64) Rest { return Rest{Seq: seq, Status: "success", Over: true} }

// A run is driven when it starts and when it is woken, and at no other time: not by a wake
// whose sender saw an earlier rest.
func TestDrives(t *testing.T) {
	s := newStage(t, waiting(5), waiting(9), over(12))
	rest, err := s.play(map[time.Duration]func(){
		time.Hour: s.wake(5), 2 * time.Hour: s.wake(5), 3 * time.Hour: s.wake(4), 4 * time.Hour: s.wake(9), 5 * time.Hour: s.wake(12),
	})
	if err != nil || rest.Status != "success" || len(s.drives) != 3 || s.took != 4*time.Hour {
		t.Errorf("after %v and %d drives it is %+v, %v", s.took, len(s.drives), rest, err)
	}
}

// A run that is paused is driven when its time has come, whatever the clocks say.
func TestTimer(t *testing.T) {
	start := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	paused := Rest{Seq: 5, Status: "paused", WakeAt: start.Add(time.Hour)}
	late := paused
	late.Seq, late.WakeAt = 7, start.Add(90*time.Minute)
	s := newStage(t, paused, late, late, late, over(9))
	s.SetStartTime(start)
	rest, err := s.play(nil)
	if err != nil || rest.Status != "success" {
		t.Fatalf("it is %+v, %v", rest, err)
	}
	// The worker's clock is behind: the run is not due to it at once.
	for i, want := range []time.Duration{0, time.Hour, 90 * time.Minute, 90*time.Minute + 30*time.Second, 91 * time.Minute} {
		if got := s.drives[i].Sub(start); got != want {
			t.Errorf("drive %d was after %v, not %v", i+1, got, want)
		}
	}
}

// A run that is handed on goes on at once.
func TestHandedOn(t *testing.T) {
	s := newStage(t, Rest{Seq: 5, Status: "queued"}, Rest{Seq: 8, Status: "queued"}, over(9))
	rest, err := s.play(nil)
	if err != nil || rest.Seq != 9 || len(s.drives) != 3 || s.took != 0 {
		t.Errorf("after %v and %d drives it is %+v, %v", s.took, len(s.drives), rest, err)
	}
}

// What cannot go on here becomes a status. It is not tried again until it is woken, and then
// for the same entry.
func TestRefused(t *testing.T) {
	refused := Rest{Seq: 5, Status: StatusRefused, Why: "run r1 began with another agent: prompt changed"}
	s := newStage(t, waiting(5), refused, refused, over(8))
	rest, err := s.play(map[time.Duration]func(){time.Hour: s.wake(5), 100 * time.Hour: s.wake(5), 200 * time.Hour: s.wake(5)})
	if err != nil || rest.Status != "success" || len(s.drives) != 4 {
		t.Errorf("after %d drives it is %+v, %v", len(s.drives), rest, err)
	}
}

// A run that is gone ends its workflow.
func TestGone(t *testing.T) {
	s := newStage(t, Rest{Status: StatusGone, Over: true})
	if rest, err := s.play(nil); err != nil || rest.Status != StatusGone {
		t.Errorf("it is %+v, %v", rest, err)
	}
}

// A long history is continued as a new one, which drives the run first, so that nothing is
// lost with the old one.
func TestContinued(t *testing.T) {
	s := newStage(t, waiting(5), waiting(9))
	s.SetContinueAsNewSuggested(true)
	_, err := s.play(nil)
	if !workflow.IsContinueAsNewError(err) && !strings.Contains(fmt.Sprint(err), "continue as new") {
		t.Errorf("%v", err)
	}
}

// A drive that fails is tried again after a second, or when its error says so.
func TestRetried(t *testing.T) {
	suite := quiet()
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(drives, workflow.RegisterOptions{Name: workflowType})
	var tries []time.Time
	env.RegisterActivityWithOptions(func(context.Context, Input) (Rest, error) {
		switch tries = append(tries, env.Now()); {
		case len(tries) < 3:
			return Rest{}, errors.New("the worker died")
		case len(tries) < 9:
			return Rest{}, retried(errors.New("the journal is away"), int32(len(tries)))
		}
		return over(3), nil
	}, activity.RegisterOptions{Name: driveType})
	env.SetTestTimeout(time.Minute)
	env.ExecuteWorkflow(workflowType, Input{"r1", "mailer"})
	if err := env.GetWorkflowError(); err != nil || len(tries) != 9 {
		t.Fatalf("after %d tries: %v", len(tries), err)
	}
	var after []time.Duration
	for i, at := range tries[1:] {
		after = append(after, at.Sub(tries[i]))
	}
	if want := "[1s 1s 4s 8s 16s 30s 30s 30s]"; fmt.Sprint(after) != want {
		t.Errorf("it is tried after %v; want %s", after, want)
	}
}

// What Temporal keeps of a run is small, however long its texts are.
func TestSmall(t *testing.T) {
	long := strings.Repeat(`"<&é\`, 100)
	waits := Rest{Seq: 1 << 63, Status: "waiting_client_tool", WakeAt: time.Now(), About: short(long, mostAbout)}
	for range mostWaits {
		waits.Waits = append(waits.Waits, short(long, mostWait))
	}
	for _, r := range []Rest{waits, refusal(pawl.Head{Seq: 1 << 63}, errors.New(long))} {
		if data, err := json.Marshal(r); err != nil || len(data) > 300 {
			t.Errorf("%d bytes, %v: %s", len(data), err, data)
		}
	}
}
