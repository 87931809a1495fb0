package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// priced is a model that costs a dollar for a million tokens of input, and 10 for output.
type priced struct{ pawl.Model }

func (priced) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "acme/one", Price: &pawl.Price{Input: 1, Output: 10}}
}

// costing is an agent whose calls reserve about a cent, and cost half of one.
func costing(name string, replies ...pawl.Reply) pawl.Agent {
	if replies == nil {
		replies = []pawl.Reply{pawl.Say("done")}
	}
	for i := range replies {
		replies[i].Usage = pawl.Usage{Input: 10, Output: 499}
	}
	return pawl.Agent{Name: name, Description: "Helps.", Model: priced{says(replies...)}, Sampling: pawl.Sampling{MaxTokens: 1000}}
}

func balances(t *testing.T, j budget.Ledger) map[string]budget.Balance {
	t.Helper()
	all := map[string]budget.Balance{}
	for b, err := range j.Balances(context.Background()) {
		must(t, err)
		all[b.Account] = b
	}
	return all
}

// booked is what the logs of runs say that their own model calls have used: a call that was
// lost has used what was reserved for it.
func booked(t *testing.T, j pawl.Journal, runs ...string) (sum budget.Amount) {
	t.Helper()
	for _, run := range runs {
		var reserved budget.Amount
		for e := range entriesOf(t, j, run) {
			switch e := e.Event.(type) {
			case pawl.ModelCalled:
				reserved = budget.Of(e.Reserved, e.Cost)
			case pawl.ModelReplied:
				sum, reserved = sum.Plus(budget.Of(e.Reply.Usage.Total(), e.Cost)), budget.Amount{}
			case pawl.ModelFailed:
				sum, reserved = sum.Plus(budget.Of(e.Usage.Total(), e.Cost)), budget.Amount{}
			case pawl.RunResumed:
				sum, reserved = sum.Plus(reserved), budget.Amount{}
			}
		}
	}
	return sum
}

func perDay(cents float64, wait bool) []budget.Budget {
	return []budget.Budget{{Label: "tenant", Per: budget.Day, Cost: cents / 100, Wait: wait}}
}

func begun(t *testing.T, e *engine.Engine, agent pawl.Agent, tenant string) *engine.Handle {
	t.Helper()
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{Labels: map[string]string{"tenant": tenant}})
	must(t, err)
	return h
}

func ended(t *testing.T, h *engine.Handle) pawl.Result {
	t.Helper()
	r, err := h.Wait(t.Context())
	must(t, err)
	return r
}

// A budget that is too small for the shortest reply is not waited for.
func TestBudgetTooSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ended(t, begun(t, engine.New(stored{memory.New()}, &engine.Options{Budgets: perDay(0.01, true)}), costing("a"), "acme"))
		const why = "the budget of tenant=acme per day, $0.0001, is less than the next call needs, $0.0002: raise it"
		if r.Status != pawl.StatusExhausted || r.Reason.Detail != why {
			t.Errorf("%v: %s", r.Status, r.Reason.Detail)
		}
	})
}

// Runs of all engines on a journal share the budget of their tenant. A reply is lowered to what
// the budget leaves. A run whose next call does not fit ends as exhausted, and goes on when the next period has begun.
func TestBudgetEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		o := &engine.Options{Budgets: perDay(0.51, false)}
		a, b := engine.New(j, o), engine.New(j, o)
		first := begun(t, a, costing("a"), "acme")
		if r := ended(t, first); r.Status != pawl.StatusSuccess {
			t.Fatalf("the first run is %v: %s", r.Status, r.Reason.Detail)
		}
		if e := events[pawl.ModelCalled](t, j, first.ID())[0]; e.MaxTokens < 500 || e.MaxTokens >= 510 || e.Cost > 0.0051 || e.Reserved > e.MaxTokens+20 {
			t.Errorf("it reserves %d tokens and $%v for a reply of %d", e.Reserved, e.Cost, e.MaxTokens)
		}
		replays(t, b, costing("a"), first.ID())
		h := begun(t, b, costing("b"), "acme")
		r := ended(t, h)
		const why = "the next call does not fit the budget of tenant=acme per day: of $0.0051, $0.0050 are spent; it needs at least $0.0002; the next period begins at 2000-01-02T00:00:00Z"
		if r.Status != pawl.StatusExhausted || r.Reason.Leaf != "budget tenant=acme per day" || r.Reason.Detail != why {
			t.Errorf("a run that does not fit is %v by %s: %s", r.Status, r.Reason.Leaf, r.Reason.Detail)
		}
		if r := ended(t, begun(t, b, costing("b"), "other")); r.Status != pawl.StatusSuccess {
			t.Errorf("a run of another tenant is %v", r.Status)
		}
		time.Sleep(24 * time.Hour)
		again, err := a.Resume(t.Context(), costing("b"), h.ID(), nil)
		must(t, err)
		if r := ended(t, again); r.Status != pawl.StatusSuccess {
			t.Errorf("on the next day it is %v: %s", r.Status, r.Reason.Detail)
		}
		replays(t, a, costing("b"), h.ID())
		for account, got := range balances(t, j) {
			if got.Spent != (budget.Amount{Tokens: 509, Cost: 5_000_000}) || got.Reserved != (budget.Amount{}) || got.Most.Dollars() != 0.0051 {
				t.Errorf("%s stands at %+v", account, got)
			}
		}
	})
}

// Where runs wait, one that does not fit is paused until the next period.
func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		e := engine.New(j, &engine.Options{Budgets: perDay(0.51, true)})
		ended(t, begun(t, e, costing("a"), "acme"))
		h := begun(t, e, costing("a"), "acme")
		if r := ended(t, h); r.Status != pawl.StatusPaused {
			t.Fatalf("it is %v: %s", r.Status, r.Reason.Detail)
		}
		for head, err := range j.List(t.Context(), pawl.Query{Run: h.ID()}) {
			if until := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC); err != nil || !head.WakeAt.Equal(until) {
				t.Fatalf("it is due at %v, not %v, %v", head.WakeAt, until, err)
			}
			time.Sleep(time.Until(head.WakeAt))
		}
		again, err := e.Resume(t.Context(), costing("a"), h.ID(), nil)
		must(t, err)
		if r := ended(t, again); r.Status != pawl.StatusSuccess {
			t.Errorf("on the next day it is %v: %s", r.Status, r.Reason.Detail)
		}
		replays(t, e, costing("a"), h.ID())
	})
}

// Of 100 runs at once as many are driven to their end as the budget has room for, since calls
// wait for those in progress to cost less than was reserved for them. The limit is never
// exceeded, and the wait is not the runs' time.
func TestBudgetOfACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		o := &engine.Options{Budgets: perDay(20, false)}
		engines := []*engine.Engine{engine.New(j, o), engine.New(j, o)}
		slow := costing("a")
		model := slow.Model
		slow.Model = priced{pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
			time.Sleep(time.Second)
			for b := range balances(t, j) {
				if sum := balances(t, j)[b]; sum.Spent.Plus(sum.Reserved).Cost > 200_000_000 {
					t.Errorf("%v are spent and reserved", sum)
				}
			}
			return model.(priced).Model.(pawl.ModelFunc)(ctx, r)
		})}
		var handles []*engine.Handle
		for i := range 100 {
			handles = append(handles, begun(t, engines[i%2], slow, "acme"))
		}
		var fit, waited int
		var ids []string
		for _, h := range handles {
			r := ended(t, h)
			ids = append(ids, h.ID())
			switch {
			case r.Status == pawl.StatusSuccess:
				fit++
			case r.Status != pawl.StatusExhausted:
				t.Errorf("a run is %v: %s", r.Status, r.Reason.Detail)
			}
			for _, e := range events[pawl.ModelCalled](t, j, h.ID()) {
				if e.Waited > 0 {
					waited++
				}
			}
			if r.Status == pawl.StatusSuccess && r.ElapsedMS > 1000 {
				t.Errorf("a run took %d ms", r.ElapsedMS)
			}
		}
		if fit != 40 || waited == 0 {
			t.Errorf("%d runs fit, of which %d waited; 40 are to, which is what half a cent each leaves room for", fit, waited)
		}
		for _, b := range balances(t, j) {
			if sum := booked(t, j, ids...); b.Spent != sum || b.Reserved != (budget.Amount{}) {
				t.Errorf("%+v; the logs say %v", b, sum)
			}
		}
	})
}

// A child run spends the budget of the run above it, whatever its own labels.
func TestBudgetOfChildren(t *testing.T) {
	j := stored{memory.New()}
	child := costing("helper")
	child.Labels = map[string]string{"tenant": "else"}
	parent := costing("a", pawl.Do(pawl.Call{Tool: "helper", Args: []byte(`{"input":"help"}`)}), pawl.Say("done"))
	parent.Tools = []pawl.Tool{tool.Agent(child, nil)}
	if r := ended(t, begun(t, engine.New(j, &engine.Options{Budgets: perDay(100, false)}), parent, "acme")); r.Status != pawl.StatusSuccess {
		t.Fatalf("it is %v: %s", r.Status, r.Reason.Detail)
	}
	all := balances(t, j)
	for account, b := range all {
		if !strings.HasSuffix(account, " tenant=acme") || b.Spent.Cost != 15_000_000 || len(all) != 1 {
			t.Errorf("%s stands at %+v", account, b)
		}
	}
}

// An engine refuses budgets that cannot be held.
func TestBudgetInvalid(t *testing.T) {
	for _, c := range []struct {
		budgets []budget.Budget
		journal pawl.Journal
		want    string
	}{
		{perDay(-1, false), memory.New(), "has a negative or impossible figure"},
		{append(perDay(1, false), perDay(2, false)...), memory.New(), "contradicts the budget of $0.0100 per day for each tenant"},
		{[]budget.Budget{{Per: budget.Total, Tokens: 5, Wait: true}}, memory.New(), "the budget of 5 tokens in total for all runs can never be waited for"},
		{perDay(1, false), struct{ pawl.Journal }{memory.New()}, "the journal is not a budget.Ledger"},
		{perDay(1, false), memory.New(), "the model func has no price"},
	} {
		agent := pawl.Agent{Name: "a", Model: says(pawl.Say("done"))}
		_, err := engine.New(c.journal, &engine.Options{Budgets: c.budgets}).Start(t.Context(), agent, "go", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, not one with %q", err, c.want)
		}
	}
}

// dying ends its process after a number of entries of all runs, before or after that entry is
// written.
type dying struct {
	*memory.Journal
	mu    sync.Mutex
	left  int
	after bool
	dead  atomic.Bool
}

var errDead = errors.New("the process is dead")

func (d *dying) write(entries int, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left -= entries; d.left <= 0 && (!d.after || d.dead.Load()) || d.dead.Load() {
		d.dead.Store(true)
		return errDead
	}
	err := do()
	if d.left <= 0 {
		d.dead.Store(true)
		return errDead
	}
	return err
}

func (d *dying) Append(ctx context.Context, b pawl.Batch) error {
	return d.write(len(b.Records), func() error { return d.Journal.Append(ctx, b) })
}

func (d *dying) Spend(ctx context.Context, b pawl.Batch, c budget.Change) error {
	return d.write(len(b.Records), func() error { return d.Journal.Spend(ctx, b, c) })
}

func (d *dying) Keep(ctx context.Context, name string, was, now []byte) error {
	return d.write(1, func() error { return d.Journal.Keep(ctx, name, was, now) })
}

func (d *dying) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if d.dead.Load() {
		return pawl.Lease{}, errDead
	}
	return d.Journal.Claim(ctx, c)
}

// Killed at any entry, before or after it is written, a run and its child settle what their
// logs say, and nothing stays reserved.
func TestBudgetKills(t *testing.T) {
	build := func() pawl.Agent {
		child := costing("helper")
		parent := costing("a", pawl.Do(pawl.Call{Tool: "helper", Args: []byte(`{"input":"help"}`)}), pawl.Say("done"))
		parent.Tools = []pawl.Tool{tool.Agent(child, nil)}
		return parent
	}
	for n := 1; n < 100; n++ {
		for _, after := range []bool{false, true} {
			finished := false
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					d := &dying{Journal: store, left: n, after: after}
					o := &engine.Options{Budgets: perDay(100, false)}
					e := engine.New(d, o)
					h, err := e.Start(t.Context(), build(), "go", &engine.StartOptions{ID: "run", Labels: map[string]string{"tenant": "acme"}})
					if err == nil {
						_, err = h.Wait(t.Context())
					}
					_ = e.Close()
					if finished = err == nil; finished {
						return
					}
					time.Sleep(time.Minute) // until the leases have lapsed
					state, err := engine.Load(t.Context(), store, "run")
					if err != nil || state.Seq() == 0 {
						return // it was never started
					}
					j := stored{store}
					if !state.Status().Ended() {
						again, err := engine.New(j, o).Resume(t.Context(), build(), "run", nil)
						must(t, err)
						if r := ended(t, again); r.Status != pawl.StatusSuccess {
							t.Errorf("it ends as %v: %s", r.Status, r.Reason.Detail)
						}
					}
					var ids []string
					for head, err := range store.List(t.Context(), pawl.Query{}) {
						must(t, err)
						ids = append(ids, head.Run)
					}
					for account, b := range balances(t, j) {
						if want := booked(t, store, ids...); b.Reserved != (budget.Amount{}) || b.Spent != want {
							t.Errorf("%s stands at %+v, and the logs say %v", account, b, want)
						}
					}
				})
			})
			if finished {
				return
			}
		}
	}
}
