package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
)

// supervised is a Write that another process starts, and whose outcome it cannot tell.
type supervised struct {
	fake
	where string
}

func (s supervised) Supervised(pawl.Invocation) string { return s.where }

func supervisedPayer(where string) pawl.Agent {
	pay := fake{name: "pay", effect: pawl.Write, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		return pawl.Output{JSON: json.RawMessage(`1`)}, nil
	}}
	return pawl.Agent{Name: "payer", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{supervised{pay, where}}}
}

// paying1 is the payer's first attempt.
var paying1 = process.Attempt{Run: "r", Call: "c_1", Key: "r/c_1", Number: 1}

func openCalls(t *testing.T) process.CallDir {
	t.Helper()
	dir, err := process.OpenCallDir(filepath.Join(t.TempDir(), "calls"), "r")
	must(t, err)
	return dir
}

// dies has the run's owner die when its intent is durable.
func dies(t *testing.T, j *tap, e *engine.Engine, agent pawl.Agent) {
	t.Helper()
	j.on(func(b pawl.Batch, write func() error) error {
		if has(b, "tool.started") {
			return errors.Join(write(), errDisk)
		}
		return write()
	})
	if _, err := wait(t, begin(t, e, agent)); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	j.on(nil)
}

// Whatever is said to a run whose owner died, its call cannot start any more when
// it is said: no agent is needed for that, nor a tool that can tell.
func TestFencedFirst(t *testing.T) {
	for name, say := range map[string]func(e *engine.Engine, agent pawl.Agent) error{
		"cancel": func(e *engine.Engine, _ pawl.Agent) error { return e.Cancel(t.Context(), "r", "boss", "enough") },
		"resume": func(e *engine.Engine, agent pawl.Agent) error {
			h, err := e.Resume(t.Context(), agent, "r", nil)
			if err == nil {
				_, err = h.Wait(t.Context())
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := openCalls(t)
			agent := supervisedPayer(dir.String())
			j := newTap()
			e := engine.New(j, nil)
			dies(t, j, e, agent)
			if _, err := dir.Look(paying1); err == nil {
				t.Fatal("it is recorded before anybody said anything")
			}
			fenced := false
			j.on(func(b pawl.Batch, write func() error) error {
				if has(b, "run.stopped") || has(b, "tool.finished") {
					return write() // by now the file may be removed
				}
				fate, err := dir.Look(paying1)
				fenced = err == nil && fate.Never
				if !fenced {
					t.Errorf("not fenced before %s", b.Records)
				}
				return write()
			})
			if err := say(e, agent); err != nil || !fenced {
				t.Fatal(err, fenced)
			}
			j.on(nil)
			if name == "cancel" {
				return
			}
			// The record shows that the call was never started, so only that resolution is accepted.
			if err := e.Resolve(t.Context(), "r", "c_1", "boss", engine.Happened(json.RawMessage(`1`))); err == nil || !strings.Contains(err.Error(), "was never started") {
				t.Errorf("settled as happened: %v", err)
			}
			must(t, e.Resolve(t.Context(), "r", "c_1", "boss", engine.DidNotHappen()))
			res := ends(t, resume(t, e, agent), pawl.StatusSuccess)
			if res.ToolCalls != 1 {
				t.Errorf("%d calls", res.ToolCalls)
			}
			sound(t, e, j, agent, "r")
		})
	}
}

// What a wrapper has recorded of a call is not to be settled otherwise; what it
// could not record is.
func TestSettledAgainstTheRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome *process.Outcome
		runs    bool
		want    string
	}{
		"runs":      {runs: true, want: "still runs"},
		"ended":     {outcome: &process.Outcome{}, want: "has ended"},
		"late":      {outcome: &process.Outcome{Cut: process.Late}, want: "has ended"},
		"cut short": {outcome: &process.Outcome{Cut: process.Stopped}},
		"killed":    {outcome: &process.Outcome{Signal: "SIGKILL"}},
		"orphaned":  {},
	} {
		t.Run(name, func(t *testing.T) {
			dir := openCalls(t)
			j := newTap()
			e := engine.New(j, nil)
			agent := supervisedPayer(dir.String())
			dies(t, j, e, agent)
			f, err := dir.Begin(paying1, time.Minute)
			must(t, err)
			if tt.outcome != nil {
				must(t, f.End(tt.outcome))
			}
			if !tt.runs {
				must(t, f.Close())
			}
			ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt) // its tool is not asked, as it cannot tell
			for _, err := range []error{
				e.Resolve(t.Context(), "r", "c_1", "boss", engine.DidNotHappen()),
				e.Resolve(t.Context(), "r", "c_1", "boss", engine.Happened(json.RawMessage(`1`))),
			} {
				conflict := (*pawl.SignalConflictError)(nil)
				switch {
				case tt.want == "" && err != nil && !errors.As(err, &conflict):
					t.Error(err)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("%v, want: … %s …", err, tt.want)
				}
			}
			if f, err := dir.Look(paying1); err != nil {
				t.Errorf("the file of a call in doubt is removed: %+v, %v", f, err)
			}
		})
	}
}

// Cancelling a run ends the command that outlived its process, by asking its wrapper.
func TestCancelAsksTheWrapper(t *testing.T) {
	dir := openCalls(t)
	j := newTap()
	e := engine.New(j, nil)
	dies(t, j, e, supervisedPayer(dir.String()))
	f, err := dir.Begin(paying1, time.Minute)
	must(t, err)
	go func() {
		for f.StopRequested() == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = f.End(&process.Outcome{Signal: "SIGTERM", Cut: f.StopRequested()})
		_ = f.Close()
	}()
	must(t, e.Cancel(t.Context(), "r", "boss", "enough"))
	s := loaded(t, j, "r")
	if c, _ := s.Call("c_1"); s.Status() != pawl.StatusCancelled || c.Phase != pawl.PhaseInDoubt || !strings.Contains(c.Reason, "cancelling the run ended its command") {
		t.Errorf("%v, %v, %q", s.Status(), c.Phase, c.Reason)
	}
}

// A call whose file cannot be reached, as on another host, is in doubt at once.
func TestResumedOnAnotherHost(t *testing.T) {
	j := newTap()
	e := engine.New(j, nil)
	agent := supervisedPayer(process.CallDir{Boot: "there", At: time.Now(), Path: "/nowhere/at/all"}.String())
	dies(t, j, e, agent)
	ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
}

// A fork does not look for its call in the file of another run's call.
func TestForkForgetsWhoSupervised(t *testing.T) {
	j := newTap()
	e := engine.New(j, nil)
	agent := supervisedPayer("somebody")
	dies(t, j, e, agent)
	ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
	s := loaded(t, j, "r")
	if c, _ := s.Call("c_1"); c.Supervised != "somebody" {
		t.Fatalf("supervised by %q", c.Supervised)
	}
	h, err := e.Fork(t.Context(), agent, "r", s.Seq(), nil)
	must(t, err)
	ends(t, h, pawl.StatusWaitingDoubt)
	s, err = engine.Load(t.Context(), j, h.ID())
	must(t, err)
	if c, _ := s.Call("c_1"); c.Supervised != "" || c.Phase != pawl.PhaseInDoubt {
		t.Errorf("in the fork it is %v, supervised by %q", c.Phase, c.Supervised)
	}
}

type idle struct{ error }

func (idle) NotRun() bool { return true }

// A call of which its tool says that nothing was done is not run, whatever ended
// it: neither timed out, nor in doubt.
func TestNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			limit  time.Duration
			cancel bool
			want   pawl.ToolStatus
		}{
			"at once": {want: pawl.ToolFailed}, "in time": {limit: time.Second, want: pawl.ToolFailed}, "cancelled": {limit: time.Hour, cancel: true, want: pawl.ToolCancelled},
		} {
			j := newTap()
			e := engine.New(j, nil)
			pay := fake{name: "pay", effect: pawl.Write, limit: tt.limit, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
				if tt.limit > 0 {
					<-ctx.Done()
				}
				return pawl.Output{}, idle{errors.New("not run: the line is dead")}
			}}
			agent := pawl.Agent{Name: "payer", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{pay}}
			h := begin(t, e, agent)
			if tt.cancel {
				synctest.Wait()
				must(t, e.Cancel(t.Context(), "r", "boss", "enough"))
			}
			_, err := wait(t, h)
			must(t, err)
			s := loaded(t, j, "r")
			if c, _ := s.Call("c_1"); c.Phase != pawl.PhaseAnswered || c.Status != tt.want || c.Error != "not run: the line is dead" {
				t.Errorf("%s: %v, %v, %q", name, c.Phase, c.Status, c.Error)
			}
			must(t, e.Close())
		}
	})
}
