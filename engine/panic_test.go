package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/stop"
)

// fuse is code of a user that panics in its turn n, as long as it is lit.
type fuse struct {
	lit  atomic.Bool
	left atomic.Int32
}

func (f *fuse) burn() {
	if f.lit.Load() && f.left.Add(-1) < 0 {
		panic("boom\nwith more lines")
	}
}

type badLoop struct{ *fuse }

func (badLoop) Name() string { return "bad" }
func (b badLoop) Next(s *pawl.State) pawl.Step {
	b.burn()
	return pawl.ReAct{}.Next(s)
}

type badCondition struct{ *fuse }

func (badCondition) String() string { return "iterations >= 9" }
func (b badCondition) Eval(*pawl.State) pawl.Verdict {
	b.burn()
	return pawl.Verdict{}
}

type badPolicy struct{ *fuse }

func (badPolicy) String() string { return "bad_policy" }
func (b badPolicy) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	b.burn()
	return step
}

type badLook struct{ badPolicy }

func (b badLook) Look(_ *pawl.State, step pawl.Step) pawl.Step {
	b.burn()
	return step
}

type badFilter struct{ badPolicy }

func (b badFilter) Review(_ *pawl.State, step pawl.Step) pawl.Step { return step }
func (b badFilter) Filter(text string) string {
	b.burn()
	return text
}

type badWorld struct{ *fuse }

func (b badWorld) Observe(context.Context) (pawl.Observation, error) {
	b.burn()
	return pawl.Observation{Text: "a world"}, nil
}

func (b badWorld) Measure(context.Context, pawl.Observation) (pawl.Measured, error) {
	b.burn()
	return pawl.Measured{Value: 1}, nil
}

type badTool struct {
	fake
	*fuse
}

func (b badTool) Supervised(pawl.Invocation) string {
	b.burn()
	return ""
}

// Code of the user's that panics ends the run as failed, which names the code. The
// same code fails again when the run is resumed; code that was fixed goes on.
func TestPanicsAreFailures(t *testing.T) {
	look := seeing("look")
	goal := func(c pawl.Condition, w badWorld) *pawl.Goal { return &pawl.Goal{Success: c, Metric: w.Measure} }
	reached, err := stop.Parse("metric >= 1", nil)
	must(t, err)
	never, err := stop.Parse("metric >= 2", nil)
	must(t, err)
	var off fuse
	for name, c := range map[string]struct {
		set  func(*pawl.Agent, *fuse)
		says string
	}{
		"loop":                 {func(a *pawl.Agent, f *fuse) { a.Loop = badLoop{f} }, "the loop bad"},
		"condition":            {func(a *pawl.Agent, f *fuse) { a.Stop = badCondition{f} }, "the condition iterations >= 9"},
		"policy":               {func(a *pawl.Agent, f *fuse) { a.Policies = []pawl.Policy{badPolicy{f}} }, "the policy bad_policy"},
		"look":                 {func(a *pawl.Agent, f *fuse) { a.Policies = []pawl.Policy{badLook{badPolicy{f}}} }, "the policy bad_policy"},
		"filter":               {func(a *pawl.Agent, f *fuse) { a.Policies = []pawl.Policy{badFilter{badPolicy{f}}} }, "the filter bad_policy"},
		"filter of the engine": {func(*pawl.Agent, *fuse) {}, "the filter engine.FilterFunc"},
		"observer":             {func(a *pawl.Agent, f *fuse) { a.Observer = badWorld{f}.Observe }, "the observer of bomb"},
		"metric":               {func(a *pawl.Agent, f *fuse) { a.Goal = goal(reached, badWorld{f}) }, "the metric of bomb"},
		"goal":                 {func(a *pawl.Agent, f *fuse) { a.Goal = goal(badCondition{f}, badWorld{&off}) }, "the condition iterations >= 9"},
		"tool":                 {func(a *pawl.Agent, f *fuse) { a.Tools = []pawl.Tool{badTool{look, f}} }, "code"},
	} {
		for turn := range int32(3) {
			t.Run(fmt.Sprint(name, turn), func(t *testing.T) {
				var f fuse
				agent := pawl.Agent{Name: "bomb", Model: turns([]pawl.Call{call("look", 1), call("look", 2)}, []pawl.Call{call("look", 3)}), Tools: []pawl.Tool{look}}
				c.set(&agent, &f)
				want := pawl.StatusSuccess
				if name == "goal" { // whose condition never holds
					want, agent.Limits.Iterations = pawl.StatusFailed, 3
				}
				if name == "metric" {
					agent.Goal.Success, want = never, pawl.StatusFailed
				}
				j := newTap()
				var told bytes.Buffer
				o := &engine.Options{Log: slog.New(slog.NewTextHandler(&told, nil))}
				if name == "filter of the engine" {
					o.Filters = []engine.Filter{engine.FilterFunc(func(text string) string { f.burn(); return text })}
				}
				e := engine.New(j, o)
				f.left.Store(turn)
				if !strings.HasPrefix(name, "filter") || turn > 0 { // which is asked about the input before there is a log
					f.lit.Store(true)
				} else {
					j.on(func(_ pawl.Batch, write func() error) error {
						f.lit.Store(true)
						return write()
					})
				}
				res := ends(t, begin(t, e, agent), pawl.StatusFailed)
				fails := func(res pawl.Result) {
					t.Helper()
					v := res.Verdict
					if v.Leaf != "panic" || !strings.HasPrefix(v.Detail, c.says+" (panic_test.go:") || strings.Contains(v.Detail, "more lines") {
						t.Fatalf("the run ended with %v", v)
					}
				}
				fails(res)
				if !strings.Contains(told.String(), "with more lines") || !strings.Contains(told.String(), "burn") {
					t.Errorf("the log of the process has %q", told.String())
				}
				j.on(nil)
				f.left.Store(0)
				h, err := e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: pawl.Limits{ToolErrors: 9}}) // which asks the code ahead
				must(t, err)
				fails(ends(t, h, pawl.StatusFailed))
				f.lit.Store(false)
				if want == pawl.StatusSuccess {
					ends(t, resume(t, e, agent), pawl.StatusSuccess)
				} else if res, err := wait(t, resume(t, e, agent)); err != nil || res.Verdict.Leaf == "panic" {
					t.Errorf("the run went on to %v, %v", res.Verdict, err)
				}
				sound(t, e, j, agent, "r")
				free(t)
				must(t, e.Close())
			})
		}
	}
}

// badHook panics when it is asked for its name.
type badHook struct{ *fuse }

func (b badHook) Name() string {
	b.burn()
	return "bad"
}

func (b badHook) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	if _, replied := e.Event.(*pawl.ModelReplied); replied || e.Type() == "model.replied" {
		return engine.Direction{Cancel: true, Reason: "enough"}
	}
	return engine.Direction{}
}

// The name of a hook that panics does no harm, at the end of a run neither.
func TestHookNamesPanic(t *testing.T) {
	var f fuse
	f.lit.Store(true)
	j := newTap()
	agent := pawl.Agent{Name: "bomb", Model: turns()}
	e := engine.New(j, &engine.Options{Hooks: []engine.Hook{badHook{&f}}})
	res := ends(t, begin(t, e, agent), pawl.StatusCancelled)
	if !strings.Contains(res.Verdict.Detail, "engine_test.badHook") {
		t.Errorf("the run ended with %v", res.Verdict)
	}
	sound(t, e, j, agent, "r")
}

// A hook that panics changes neither its run nor what the other hooks are asked.
func TestHookPanics(t *testing.T) {
	asked := 0
	j, l := newTap(), new(ledger)
	agent := spender(l.add)
	e := engine.New(j, &engine.Options{Hooks: []engine.Hook{
		hookFunc(func(*pawl.State, pawl.Entry) engine.Direction { panic("boom") }),
		hookFunc(func(*pawl.State, pawl.Entry) engine.Direction { asked++; return engine.Direction{} }),
	}})
	ends(t, begin(t, e, agent), pawl.StatusSuccess)
	if asked < 20 || l.len() != 8 {
		t.Errorf("the other hook was asked %d times; %d effects took place", asked, l.len())
	}
	sound(t, e, j, agent, "r")
}

// HooksOf that panics leaves the run free, and so does whatever else panics while a
// run is started, resumed or forked.
func TestPanicsBeforeARun(t *testing.T) {
	var f fuse
	j := newTap()
	agent := pawl.Agent{Name: "bomb", Model: turns()}
	e := engine.New(j, &engine.Options{HooksOf: func(pawl.Declaration) []engine.Hook {
		f.burn()
		return nil
	}})
	agent.Limits.Iterations, agent.Stop = 1, stop.Iterations(0)
	ends(t, begin(t, e, agent), pawl.StatusExhausted)
	f.lit.Store(true)
	for what, do := range map[string]func() error{
		"start": func() error {
			_, err := e.Start(t.Context(), agent, "Go.", &engine.StartOptions{ID: "other"})
			return err
		},
		"resume": func() error { _, err := e.Resume(t.Context(), agent, "r", nil); return err },
		"fork":   func() error { _, err := e.Fork(t.Context(), agent, "r", 1, nil); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "the function HooksOf (panic_test.go:") {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.lit.Store(false)
	ends(t, resume(t, e, agent), pawl.StatusExhausted)
	if h, err := e.Start(t.Context(), agent, "Go.", &engine.StartOptions{ID: "other"}); err != nil {
		t.Errorf("the run that could not begin cannot begin any more: %v", err)
	} else {
		ends(t, h, pawl.StatusExhausted)
	}
}

// Calls beside one whose result makes a filter panic are told to stop. They are made
// again when the run is resumed.
func TestSiblingsOfAPanicStop(t *testing.T) {
	var f fuse
	stopped := make(chan struct{}, 1)
	agent := pawl.Agent{
		Name: "bomb", Model: turns([]pawl.Call{call("quick", 1), call("slow", 1)}),
		Policies: []pawl.Policy{badFilter{badPolicy{&f}}},
		Tools: []pawl.Tool{
			seeing("quick"),
			fake{name: "slow", effect: pawl.Read, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
				if f.lit.Load() {
					<-ctx.Done()
					stopped <- struct{}{}
				}
				return pawl.Output{JSON: []byte(`"y"`)}, nil
			}},
		},
	}
	j := newTap()
	j.on(func(b pawl.Batch, write func() error) error {
		if has(b, "tool.started") {
			f.lit.Store(true)
		}
		return write()
	})
	e := engine.New(j, nil)
	if v := ends(t, begin(t, e, agent), pawl.StatusFailed).Verdict; v.Leaf != "panic" {
		t.Errorf("the run ended with %v", v)
	}
	<-stopped
	free(t)
	j.on(nil)
	f.lit.Store(false)
	ends(t, resume(t, e, agent), pawl.StatusSuccess)
	sound(t, e, j, agent, "r")
}

// mutter is a handler of log records that panics.
type mutter struct{ slog.Handler }

func (mutter) Enabled(context.Context, slog.Level) bool  { return true }
func (m mutter) WithAttrs([]slog.Attr) slog.Handler      { return m }
func (mutter) Handle(context.Context, slog.Record) error { panic("the disk is full") }

// A logger that panics does no harm, also when it is told of another panic.
func TestLoggerPanics(t *testing.T) {
	var f fuse
	f.lit.Store(true)
	j := newTap()
	agent := pawl.Agent{Name: "bomb", Model: turns(), Loop: badLoop{&f}}
	e := engine.New(j, &engine.Options{Log: slog.New(mutter{})})
	if v := ends(t, begin(t, e, agent), pawl.StatusFailed).Verdict; !strings.HasPrefix(v.Detail, "the loop bad (") {
		t.Errorf("the run ended with %v", v)
	}
	sound(t, e, j, agent, "r")
}
