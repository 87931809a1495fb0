package explain_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// disk is a journal in memory that claims to outlive the process, so that
// agents that wait may run on it.
type disk struct{ *memory.Journal }

// lab runs agents in a bubble of fake time, so that their logs are always the same.
type lab struct {
	t    *testing.T
	disk disk
	eng  *engine.Engine
}

func inLab(t *testing.T, work func(*lab) []pawl.Entry) (log []pawl.Entry) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log = work(newLab(t, memory.New()))
		time.Sleep(time.Second) // the engine's attendant goes when it finds no live run
	})
	return log
}

func newLab(t *testing.T, j *memory.Journal) *lab {
	return &lab{t, disk{j}, engine.New(disk{j}, &engine.Options{
		Owner:   &engine.Owner{User: "ann", Host: "anvil", PID: 7},
		Backoff: func(n int) time.Duration { return time.Duration(n) * time.Second },
	})}
}

const runID = "01RUN"

func (l *lab) start(a pawl.Agent, input string) *engine.Handle {
	l.t.Helper()
	a.Source = cmp.Or(a.Source, `{"kind":"spec"}`) // what a report advises is for the command line
	run, err := l.eng.Start(l.t.Context(), a, input, &engine.StartOptions{ID: runID})
	must(l.t, err)
	return run
}

func (l *lab) run(a pawl.Agent, input string) []pawl.Entry {
	l.t.Helper()
	return l.wait(l.start(a, input))
}

func (l *lab) resume(a pawl.Agent, o *engine.ResumeOptions) []pawl.Entry {
	l.t.Helper()
	run, err := l.eng.Resume(l.t.Context(), a, runID, o)
	must(l.t, err)
	return l.wait(run)
}

func (l *lab) wait(run *engine.Handle) []pawl.Entry {
	l.t.Helper()
	if _, err := run.Wait(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	return l.log(run.ID())
}

func (l *lab) log(run string) (log []pawl.Entry) {
	l.t.Helper()
	for e, err := range engine.Entries(l.t.Context(), l.disk, run, 1) {
		l.must(err)
		log = append(log, e)
	}
	return log
}

func (l *lab) must(err error) {
	l.t.Helper()
	must(l.t, err)
}

// crash is a lab whose journal has the first entries of a log, as if their
// writer had died there some time ago.
func (l *lab) crash(log []pawl.Entry, after time.Duration) *lab {
	l.t.Helper()
	time.Sleep(after)
	ctx, j := l.t.Context(), memory.New()
	lease, err := j.Claim(ctx, pawl.Claim{Run: runID, Owner: "gone", TTL: time.Second, New: true})
	l.must(err)
	batch := pawl.Batch{Run: runID, Epoch: lease.Epoch}
	for _, e := range log {
		line, err := e.AppendJSON(nil)
		l.must(err)
		batch.Records = append(batch.Records, line)
	}
	l.must(j.Append(ctx, batch))
	_, err = j.Claim(ctx, pawl.Claim{Run: runID, Owner: "gone", Epoch: lease.Epoch})
	l.must(err)
	return newLab(l.t, j)
}

// until cuts a log behind the first entry of a type.
func until(log []pawl.Entry, typ string) []pawl.Entry {
	for i, e := range log {
		if e.Type() == typ {
			return log[:i+1]
		}
	}
	return nil
}

func scripted(t *testing.T, text string) pawl.Model {
	t.Helper()
	m, err := script.Parse("test.yaml", []byte(text))
	must(t, err)
	return metered{m}
}

// metered reports a usage where the script does not, so that the reports do not
// hang on how the machine estimates.
type metered struct{ *script.Model }

func (m metered) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for c, err := range m.Model.Stream(ctx, r) {
			if c.Reply != nil && c.Reply.Usage == (pawl.Usage{}) {
				c.Reply.Usage = pawl.Usage{Input: 40 * len(r.Messages), Output: 10}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// fake is a tool of any effect whose answer is a function of its arguments.
type fake struct {
	pawl.ToolInfo
	do func(ctx context.Context, args map[string]any) (string, error)
}

func (f fake) Info() pawl.ToolInfo { return f.ToolInfo }

func (f fake) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args map[string]any
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	out, err := f.do(ctx, args)
	return pawl.Output{JSON: json.RawMessage(out)}, err
}

const anything = `{"type":"object","additionalProperties":true}`

func tool(name string, effect pawl.Effect, do func(context.Context, map[string]any) (string, error)) fake {
	return fake{pawl.ToolInfo{Name: name, Description: name, Input: json.RawMessage(anything), Effect: effect}, do}
}

// search finds things in a time that their names tell, so that of two searches
// it is certain which ends first.
func search() fake {
	return tool("search", pawl.Read, func(ctx context.Context, a map[string]any) (string, error) {
		select {
		case <-time.After(time.Duration(100+5*len(fmt.Sprint(a["q"]))) * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return fmt.Sprintf(`["found %v"]`, a["q"]), nil
	})
}

func instant(context.Context, map[string]any) (string, error) { return `"ok"`, nil }

func pay() fake {
	return tool("pay", pawl.Write, func(context.Context, map[string]any) (string, error) {
		time.Sleep(300 * time.Millisecond)
		return `{"paid":true}`, nil
	})
}

func broken() fake {
	return tool("fetch", pawl.Read, func(context.Context, map[string]any) (string, error) {
		return "", errors.New("connection refused")
	})
}

func picker() fake {
	f := tool("pick_cell", pawl.Read, nil)
	f.Client = true
	return f
}

// gate holds the calls of a tool for a person.
type gate struct{ tool string }

func (g gate) String() string { return "gate(" + g.tool + ")" }
func (g gate) Waits() bool    { return true }

func (g gate) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	calls := append([]pawl.Classified(nil), act.Calls...)
	for i, d := range calls {
		if c, _ := s.Call(d.Call.ID); d.Call.Tool == g.tool && d.Do < pawl.CallAsk && c.Phase == pawl.PhaseUndecided {
			calls[i].Do, calls[i].Why = pawl.CallAsk, "payments are approved by a person"
		}
	}
	return pawl.Act{Calls: calls}
}

// course is a goal that is measured along a given course.
func course(measures ...pawl.Measured) *pawl.Goal {
	n := 0
	return &pawl.Goal{Success: atMost{0}, Metric: func(context.Context, pawl.Observation) (pawl.Measured, error) {
		n++
		return measures[min(n, len(measures))-1], nil
	}}
}

type atMost struct{ most float64 }

func (m atMost) String() string { return fmt.Sprintf("metric <= %g", m.most) }

func (m atMost) Eval(s *pawl.State) pawl.Verdict {
	v, known := s.Metric()
	return pawl.Verdict{Holds: known && v <= m.most, Status: pawl.StatusSuccess, Condition: m.String(), Leaf: m.String(), Detail: fmt.Sprintf("metric is %g", v)}
}

func sequence(log []pawl.Entry) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for _, e := range log {
			if !yield(e, nil) {
				return
			}
		}
	}
}

var must = check.Must
