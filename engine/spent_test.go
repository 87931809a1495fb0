package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// A run is neither resumed nor forked with limits that it has used up: nothing is
// recorded, the lease is free, and the error says which limit is used up. A caller
// who allows it has the run end as exhausted again.
func TestSpent(t *testing.T) {
	j := memory.New()
	e := engine.New(j, nil)
	asked := 0
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if asked++; r.Turn == 2 {
			return pawl.Say("7"), nil
		}
		return pawl.Say("x"), nil
	})
	agent := pawl.Agent{Name: "a", Model: model, Limits: pawl.Limits{Iterations: 1}, Output: []byte(`{"type": "integer"}`)}
	ends(t, begin(t, e, agent), pawl.StatusExhausted)
	before := loaded(t, j, "r")
	bought := asked
	limits := pawl.Limits{Iterations: 1, Time: time.Hour}
	for name, refused := range map[string]func() error{
		"resume": func() error {
			_, err := e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: limits})
			return err
		},
		"fork": func() error {
			_, err := e.Fork(t.Context(), agent, "r", before.Seq(), &engine.ForkOptions{Limits: limits})
			return err
		},
	} {
		err := refused()
		if want := "run r would end at once with these limits: iterations >= 1 (the one iteration is used); raise that limit further"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	now, err := engine.Load(t.Context(), j, "r")
	if err != nil || now.Seq() != before.Seq() || asked != bought {
		t.Errorf("%d entries were recorded and %d calls made (%v)", now.Seq()-before.Seq(), asked-bought, err)
	}
	n := 0
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil {
			t.Error(err)
		}
		if h.Seq > 0 { // else its id was claimed, and is free again
			n++
		}
	}
	if n != 1 {
		t.Errorf("there are %d runs", n)
	}
	for _, c := range []struct {
		o    engine.ResumeOptions
		want pawl.Status
	}{
		{engine.ResumeOptions{Limits: limits, AllowSpent: true}, pawl.StatusExhausted},
		{engine.ResumeOptions{}, pawl.StatusExhausted},
		{engine.ResumeOptions{Limits: pawl.Limits{Iterations: 2}}, pawl.StatusSuccess},
	} {
		h, err := e.Resume(t.Context(), agent, "r", &c.o)
		must(t, err)
		if r, err := h.Wait(t.Context()); err != nil || r.Status != c.want {
			t.Errorf("%+v: %v, %v", c.o, r.Verdict, err)
		}
	}
}

// An agent whose code panics when it is asked ahead is resumed: the panic then is
// the run's.
func TestSpentOfAPanickingLoop(t *testing.T) {
	j := memory.New()
	e := engine.New(j, nil)
	agent := pawl.Agent{Name: "a", Loop: stubborn{}, Model: script.Replies(pawl.Say("x"))}
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	first, _ := h.Wait(t.Context())
	h, err = e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 30}})
	must(t, err)
	if again, _ := h.Wait(t.Context()); again.Status != first.Status {
		t.Errorf("it was %v, and is %v", first.Verdict, again.Verdict)
	}
}

// stubborn panics whenever it is asked.
type stubborn struct{}

func (stubborn) Name() string               { return "stubborn" }
func (stubborn) Next(*pawl.State) pawl.Step { panic("no") }
