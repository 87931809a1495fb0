package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
)

// payer pays as often as its plan says, and each payment has to be approved.
func payer(l *ledger, plan ...pawl.Call) pawl.Agent {
	return pawl.Agent{
		Name:  "payer",
		Model: turns(plan),
		Tools: []pawl.Tool{fake{name: "pay", effect: pawl.Write, run: func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
			l.add(inv)
			return pawl.Output{JSON: inv.Args}, nil
		}}},
		Policies: []pawl.Policy{approval.For("pay")},
	}
}

// Of 64 who decide and go on at once, one decision counts, and the call takes
// place once or not at all.
func TestDecisionRace(t *testing.T) {
	for round := range 8 {
		j, l := newTap(), new(ledger)
		agent := payer(l, call("pay", 1))
		ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusWaitingApproval)
		var all sync.WaitGroup
		var yes, no, twice atomic.Int32
		for i := range 64 {
			all.Go(func() {
				eng := engine.New(j, nil)
				var err error
				approve := (i+round)%2 == 0
				if approve {
					err = eng.Approve(t.Context(), "r", "c_1", "somebody", nil)
				} else {
					err = eng.Deny(t.Context(), "r", "c_1", "somebody", "", nil)
				}
				var conflict *pawl.SignalConflictError
				switch {
				case errors.As(err, &conflict):
					twice.Add(1)
				case err != nil:
					t.Error(err)
				case approve:
					yes.Add(1)
				default:
					no.Add(1)
				}
				if h, err := eng.Resume(t.Context(), agent, "r", nil); err == nil {
					_, _ = h.Wait(t.Context())
				}
			})
		}
		all.Wait()
		s, err := engine.Load(t.Context(), j, "r")
		if err != nil || s.Status() != pawl.StatusSuccess {
			t.Fatalf("%v, %v", s.Status(), err)
		}
		want := 0
		if yes.Load() > 0 {
			want = 1
		}
		if (yes.Load() > 0) == (no.Load() > 0) || twice.Load() == 0 || l.len() != want {
			t.Errorf("round %d: %d said yes and %d no, %d came too late, and it took place %d times", round, yes.Load(), no.Load(), twice.Load(), l.len())
		}
		sound(t, engine.New(j, nil), j, agent, "r")
	}
}

// A token is shown to who parked the run, stands nowhere in the log, and another
// one decides nothing. Asking again makes a new one, and the old one is void.
func TestToken(t *testing.T) {
	j, l := newTap(), new(ledger)
	agent, eng := payer(l, call("pay", 1)), engine.New(j, nil)
	first := ends(t, begin(t, eng, agent), pawl.StatusWaitingApproval).Pending[0].Token
	second := ends(t, resume(t, eng, agent), pawl.StatusWaitingApproval).Pending[0].Token
	if len(first) < 22 || len(second) < 22 || first == second {
		t.Fatalf("tokens %q and %q", first, second)
	}
	for row, err := range j.Read(t.Context(), "r", 1) {
		if err != nil || strings.Contains(string(row.Data), first) || strings.Contains(string(row.Data), second) {
			t.Errorf("a token in the log: %s, %v", row.Data, err)
		}
	}
	for _, token := range []string{first, "x", second[1:]} {
		if err := eng.Approve(t.Context(), "r", "c_1", "", &engine.ApproveOptions{Token: token}); err == nil {
			t.Errorf("the token %q decides", token)
		}
	}
	if err := eng.Approve(t.Context(), "r", "c_1", "", &engine.ApproveOptions{Token: second}); err != nil {
		t.Error(err)
	}
	ends(t, resume(t, eng, agent), pawl.StatusSuccess)
	if l.len() != 1 {
		t.Errorf("it took place %d times", l.len())
	}
}

// What runs is what was asked about: a call that is changed in the journal while it
// waits is asked about again.
func TestChangedCall(t *testing.T) {
	from, l := newTap(), new(ledger)
	agent := payer(l, call("pay", 1))
	ends(t, begin(t, engine.New(from, nil), agent), pawl.StatusWaitingApproval)
	lines, changes := recorded(t, from), 0
	for i, line := range lines {
		if at := bytes.LastIndex(line, []byte(`{"n":1}`)); bytes.Contains(line, []byte(`"type":"model.replied"`)) {
			lines[i] = slices.Concat(line[:at], []byte(`{"n":9}`), line[at+7:])
			changes++
		}
	}
	e := engine.New(&tap{Journal: cut(t, lines)}, nil)
	if err := e.Approve(t.Context(), "r", "c_1", "ada", nil); err != nil || changes != 1 {
		t.Fatal(changes, err)
	}
	res := ends(t, resume(t, e, agent), pawl.StatusWaitingApproval)
	if l.len() != 0 || len(res.Pending) != 1 || string(res.Pending[0].Args) != `{"n":9}` {
		t.Errorf("it took place %d times and is asked about again as %+v", l.len(), res.Pending)
	}
}

// What a call relies on may take for ever to read, panic, or vanish: such a
// call is never asked about, and the run goes on.
func TestWitnessFails(t *testing.T) {
	for _, c := range []struct {
		name, why string
		witness   func(context.Context) (map[string]string, error)
	}{
		{"hangs", "longer than 10s", func(context.Context) (map[string]string, error) { select {} }},
		{"panics", "panic: boom", func(context.Context) (map[string]string, error) { panic("boom") }},
		{"fails", "no such file", func(context.Context) (map[string]string, error) { return nil, errors.New("no such file") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(time.Minute) // for the engine's own goroutines to see that nobody needs them
				j, l := newTap(), new(ledger)
				agent, ctx := payer(l, call("pay", 1)), t.Context()
				witness := c.witness
				if c.name == "hangs" {
					witness = func(context.Context) (map[string]string, error) { <-ctx.Done(); return nil, nil }
				}
				agent.Tools[0] = witnessed{agent.Tools[0].(fake), witness}
				res, err := begin(t, engine.New(j, nil), agent).Wait(t.Context())
				if err != nil || res.Status != pawl.StatusSuccess {
					t.Fatalf("the run is %v, %v", res.Status, err)
				}
				s, _ := engine.Load(t.Context(), j, "r")
				if held, _ := s.Call("c_1"); l.len() != 0 || !strings.Contains(held.Error, c.why) {
					t.Errorf("it took place %d times; the model is told %q", l.len(), held.Error)
				}
			})
		})
	}
}

type witnessed struct {
	fake
	witness func(context.Context) (map[string]string, error)
}

func (w witnessed) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	if broken == "preconditions are read again" {
		return map[string]string{"ledger": "as it was"}, nil
	}
	return w.witness(ctx)
}

// An approver that does not heed the end of its context is left behind, denies
// by its silence, and what it says afterwards counts for nothing.
func TestApproverLeftBehind(t *testing.T) {
	j, l, end := newTap(), new(ledger), make(chan struct{})
	defer close(end)
	agent := payer(l, call("pay", 1))
	stuck := engine.ApproverFunc(func(context.Context, engine.Request) (engine.Decision, error) {
		<-end
		return engine.Decision{Approve: true}, nil
	})
	eng := engine.New(j, &engine.Options{Approver: stuck, Patience: 20 * time.Millisecond})
	ends(t, begin(t, eng, agent), pawl.StatusSuccess)
	s, _ := engine.Load(t.Context(), j, "r")
	if c, _ := s.Call("c_1"); l.len() != 0 || !strings.Contains(c.Error, "nobody decided within 20ms") {
		t.Errorf("it took place %d times; the model is told %q", l.len(), c.Error)
	}
	sound(t, eng, j, agent, "r")
}
