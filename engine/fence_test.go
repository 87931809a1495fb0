package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// supervised is a Write that another process starts, and whose outcome it cannot tell.
type supervised struct {
	fake
	promise func() string
}

func (s supervised) Supervised() string { return s.promise() }

func supervisedPayer(promise func() string) pawl.Agent {
	pay := fake{name: "pay", effect: pawl.Write, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		return pawl.Output{JSON: json.RawMessage(`1`)}, nil
	}}
	return pawl.Agent{Name: "payer", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{supervised{pay, promise}}}
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
			dir := spool.At(filepath.Join(t.TempDir(), "a spool"))
			must(t, dir.Make(time.Now()))
			p, err := dir.Promise(process.Boot(), time.Now())
			must(t, err)
			agent := supervisedPayer(p.String)
			j := newTap()
			e := engine.New(j, nil)
			dies(t, j, e, agent)
			a := spool.Attempt{Run: "r", Call: "c_1", Key: "r/c_1", Number: 1}
			if _, err := dir.Read(a); err == nil {
				t.Fatal("it is recorded before anybody said anything")
			}
			fenced := false
			j.on(func(b pawl.Batch, write func() error) error {
				fate, err := dir.Read(a)
				fenced = err == nil && fate.Never != nil
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
			if err := e.Resolve(t.Context(), "r", "c_1", "boss", engine.Resolution{Happened: json.RawMessage(`1`)}); err == nil || !strings.Contains(err.Error(), "was never started") {
				t.Errorf("settled as happened: %v", err)
			}
			if err := e.Resolve(t.Context(), "r", "c_1", "boss", engine.Resolution{DidNotHappen: true}); err != nil {
				t.Error(err)
			}
			res := ends(t, resume(t, e, agent), pawl.StatusSuccess)
			if res.ToolCalls != 1 {
				t.Errorf("%d calls", res.ToolCalls)
			}
			sound(t, e, j, agent, "r")
		})
	}
}

// What a supervisor has recorded of a call is not to be settled otherwise; what it
// could not find out is.
func TestSettledAgainstTheRecord(t *testing.T) {
	self, err := process.Self()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		supervisor string
		exit       *spool.Exit
		want       string
	}{
		"runs":      {supervisor: self.String(), want: "still runs"},
		"ended":     {supervisor: self.String(), exit: &spool.Exit{}, want: "has ended"},
		"late":      {supervisor: self.String(), exit: &spool.Exit{Cut: spool.Late}, want: "has ended"},
		"cut short": {supervisor: self.String(), exit: &spool.Exit{Cut: spool.Stopped}},
		"orphaned":  {supervisor: "1.1." + self.Boot},
	} {
		t.Run(name, func(t *testing.T) {
			dir := spool.At(filepath.Join(t.TempDir(), "spool"))
			must(t, dir.Make(time.Now()))
			p, err := dir.Promise(process.Boot(), time.Now())
			must(t, err)
			j := newTap()
			e := engine.New(j, nil)
			agent := supervisedPayer(p.String)
			dies(t, j, e, agent)
			f, err := dir.Begin(spool.Begin{Attempt: spool.Attempt{Run: "r", Call: "c_1", Key: "r/c_1", Number: 1}, Supervisor: tt.supervisor})
			if err == nil && tt.exit != nil {
				err = f.Exited(tt.exit)
			}
			if err == nil {
				err = f.Close()
			}
			must(t, err)
			ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt) // its tool is not asked, as it cannot tell
			for _, err := range []error{
				e.Resolve(t.Context(), "r", "c_1", "boss", engine.Resolution{DidNotHappen: true}),
				e.Resolve(t.Context(), "r", "c_1", "boss", engine.Resolution{Happened: json.RawMessage(`1`)}),
			} {
				conflict := (*pawl.SignalConflictError)(nil)
				switch {
				case tt.want == "" && err != nil && !errors.As(err, &conflict):
					t.Error(err)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("%v, want: … %s …", err, tt.want)
				}
			}
		})
	}
}

// On another host, where nobody can keep a Write from starting, nothing is said
// about it before its supervisor would refuse it as late, and the run is not lost
// meanwhile.
func TestResumedOnAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newTap()
		e := engine.New(j, &engine.Options{Lease: 6 * time.Second})
		agent := supervisedPayer(func() string {
			return spool.Promise{ID: "there", At: time.Now(), Boot: "there", Path: "/there"}.String()
		})
		dies(t, j, e, agent)
		since := time.Now()
		ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
		if took := time.Since(since); took < 20*time.Second || took > 30*time.Second {
			t.Errorf("the doubt is told after %v", took)
		}
		since = time.Now()
		ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
		if took := time.Since(since); took != 0 {
			t.Errorf("once it is certain, somebody waits for %v", took)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A tool knows more about a doubt than a person who could not ask it.
func TestToolBeforePerson(t *testing.T) {
	j := newTap()
	e := engine.New(j, nil)
	paid, tells := 0, false
	pay := sure{fake{name: "pay", effect: pawl.Write, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		paid++
		return pawl.Output{JSON: json.RawMessage(`1`)}, nil
	}}, &tells}
	agent := pawl.Agent{Name: "payer", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{pay}}
	dies(t, j, e, agent)
	ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
	for _, r := range []engine.Resolution{{}, {Happened: json.RawMessage("1"), DidNotHappen: true}, {Happened: json.RawMessage("{")}} {
		if e.Resolve(t.Context(), "r", "c_1", "boss", r) == nil {
			t.Errorf("%+v resolved the outcome", r)
		}
	}
	must(t, e.Resolve(t.Context(), "r", "c_1", "boss", engine.Resolution{DidNotHappen: true}))
	tells = true
	ends(t, resume(t, e, agent), pawl.StatusSuccess)
	if paid != 0 {
		t.Errorf("a call that its tool knows to have happened was made %d times more", paid)
	}
	sound(t, e, j, agent, "r")
}

// sure is a tool that can tell that its call happened, once it can tell.
type sure struct {
	fake
	tells *bool
}

func (s sure) Reconcile(context.Context, pawl.Invocation) (pawl.Output, bool, error) {
	if !*s.tells {
		return pawl.Output{}, false, errors.New("the line is dead")
	}
	return pawl.Output{JSON: json.RawMessage(`1`)}, true, nil
}

// A fork does not take what was promised of another run's call for its own.
func TestForkForgetsWhoSupervised(t *testing.T) {
	j := newTap()
	e := engine.New(j, nil)
	agent := supervisedPayer(func() string { return "somebody" })
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
			if _, err := wait(t, h); err != nil {
				t.Fatal(err)
			}
			s := loaded(t, j, "r")
			if c, _ := s.Call("c_1"); c.Phase != pawl.PhaseAnswered || c.Status != tt.want || c.Error != "not run: the line is dead" {
				t.Errorf("%s: %v, %v, %q", name, c.Phase, c.Status, c.Error)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// The calls of a child are set apart from those of the child of an earlier run by
// the same id, as the calls of its parent are.
func TestKeysOfChildren(t *testing.T) {
	keys := map[string]bool{}
	for range 2 {
		j := newTap()
		e := engine.New(j, nil)
		agent := boss(paying(new(ledger)))
		agent.Policies = nil
		h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{Key: "k"})
		must(t, err)
		ends(t, h, pawl.StatusSuccess)
		s := loaded(t, j, h.ID()+".c_1")
		for c := range s.Calls() {
			if keys[c.Key] {
				t.Errorf("key %s is used by two runs", c.Key)
			}
			keys[c.Key] = true
		}
	}
	if len(keys) != 2 {
		t.Errorf("the keys are %v", keys)
	}
}
