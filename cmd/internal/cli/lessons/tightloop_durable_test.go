package lessons

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// A grade is an argument with a type and a set of values of its own.
type grade string

func (g grade) weight() int { return map[grade]int{"low": 1, "high": 10}[g] }

type order struct {
	Grade grade `json:"grade" enum:"low,high"`
	Items []struct {
		Name string `json:"name"`
		N    int    `json:"n"`
	} `json:"items"`
}

// typedAcross: wherever the log of a run ends, whoever goes on with it hands
// the function the values it would have had, and refuses what it would have refused.
func typedAcross(t *testing.T) {
	ask := func(grade string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: "order", Args: []byte(`{"grade":"` + grade + `","items":[{"name":"nail","n":3}]}`)})
	}
	agent := func(got *[]order) pawl.Agent {
		return pawl.Agent{Name: "buyer", Model: says(t, ask("high"), ask("highest"), pawl.Say("done")), Tools: []pawl.Tool{
			tool.Func("order", "Order.", func(_ context.Context, o order) (int, error) {
				*got = append(*got, o)
				return o.Grade.weight() * o.Items[0].N, nil
			}, pawl.Idempotent),
		}}
	}
	var want []order
	full := disk(t)
	ends(t, begin(t, engine.New(full, nil), agent(&want)), pawl.Success)
	if len(want) != 1 || want[0].Grade.weight() != 10 {
		t.Fatalf("ordered %+v", want)
	}
	for n := 1; n < len(log(t, full)); n++ {
		var got []order
		j := cut(t, full, n)
		if state(t, j).Status() == pawl.Success {
			continue
		}
		ends(t, resume(t, engine.New(j, nil), agent(&got), nil), pawl.Success)
		for _, o := range got {
			if fmt.Sprint(o) != fmt.Sprint(want[0]) {
				t.Errorf("cut at %d: ordered %+v", n, o)
			}
		}
		if c, _ := state(t, j).Call("c_1"); string(c.Result) != "30" {
			t.Errorf("cut at %d: the order came to %s", n, c.Result)
		}
		if c, _ := state(t, j).Call("c_2"); c.OK() {
			t.Errorf("cut at %d: a grade that there is not was let through", n)
		}
	}
}

// refusing is a gate: calls of a tool are not run.
type refusing struct{ tool string }

func (g refusing) String() string { return fmt.Sprintf("refusing(%q)", g.tool) }

func (g refusing) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	for i := range act.Calls {
		if c := &act.Calls[i]; c.Call.Tool == g.tool && c.Do < pawl.Refuse {
			c.Do, c.Why = pawl.Refuse, "nobody may"
		}
	}
	if !ok {
		return step
	}
	return act
}

// parked is an agent whose run waits for a client in its first turn and pays in its second.
func parked(t testing.TB, count *tally) pawl.Agent {
	return pawl.Agent{Name: "payer", Model: says(t, do("ask", 1), do("pay", 1), pawl.Say("done")), Tools: []pawl.Tool{
		client("ask"), echo("pay", pawl.Write, count),
	}}
}

func client(name string) pawl.Tool {
	return tool.Client(name, "Does "+name+".", json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`), nil)
}

// submit hands in the result of a client's call.
func submit(t testing.TB, e *engine.Engine, call, result string) {
	t.Helper()
	if err := e.Submit(t.Context(), run, call, "test", json.RawMessage(result)); err != nil {
		t.Fatal(err)
	}
}

// weakerGates: forgetting a gate, or giving a weaker one, does not lift it.
func weakerGates(t *testing.T) {
	j, count := disk(t), new(tally)
	e := engine.New(j, nil)
	agent := parked(t, count)
	agent.Policies = []pawl.Policy{refusing{"pay"}}
	ends(t, begin(t, e, agent), pawl.WaitingClientTool)
	submit(t, e, "c_1", "1")
	for _, policies := range [][]pawl.Policy{nil, {refusing{"nothing"}}} {
		other := agent
		other.Policies = policies
		_, err := e.Resume(t.Context(), other, run, nil)
		if parts := changed(t, err); !slices.Equal(parts, []string{"policies"}) {
			t.Errorf("changed: %v", parts)
		}
	}
	ends(t, resume(t, e, agent, nil), pawl.Success)
	if count.of("pay") != 0 {
		t.Error("it was paid")
	}
}

// droppedGoal: nor does a run go on without the goal it has.
func droppedGoal(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	agent := parked(t, nil)
	agent.Goal = &pawl.Goal{Metric: new(metric), Success: stop.Metric(">=", 1)}
	ends(t, begin(t, e, agent), pawl.WaitingClientTool)
	agent.Goal = nil
	_, err := e.Resume(t.Context(), agent, run, nil)
	if parts := changed(t, err); !slices.Contains(parts, "goal") {
		t.Errorf("changed: %v", parts)
	}
}

// bytesWritten: what a turn writes does not grow with what went before it.
func bytesWritten(t *testing.T) {
	const turns, tenth = 100, 10
	j := disk(t)
	written := 0
	var after [turns]int
	agent := pawl.Agent{
		Name: "walker", Limits: pawl.Limits{Iterations: turns, Tokens: 100_000_000},
		Model: scripted(t, "replies: [{calls: [{tool: step, args: {n: \"{{turn}}\"}}]}]\nrepeat: last"),
		Tools: []pawl.Tool{does("step", pawl.Read, func(_ context.Context, n int) (string, error) {
			after[n-1] = written
			return "a step", nil
		})},
	}
	j.on(func(b pawl.Batch, write func() error) error {
		for _, r := range b.Records {
			written += len(r)
		}
		return write()
	})
	ends(t, begin(t, engine.New(j, nil), agent), pawl.Exhausted)
	early, late := after[2*tenth]-after[tenth], after[turns-1]-after[turns-1-tenth]
	if early <= 0 || late > early*11/10 {
		t.Errorf("ten turns wrote %d bytes early and %d late", early, late)
	}
}

// intentFirst: whatever runs, the journal knows of it already, and whoever
// reads it there knows what to make of it.
func intentFirst(t *testing.T) {
	j := disk(t)
	calls := map[string]pawl.Effect{"look": pawl.Read, "put": pawl.Idempotent, "pay": pawl.Write}
	var tools []pawl.Tool
	for name, effect := range calls {
		tools = append(tools, tool.Func(name, "Does it.", func(ctx context.Context, _ number) (string, error) {
			inv, _ := tool.InvocationFrom(ctx)
			s, err := engine.Load(ctx, j, run)
			if err != nil {
				return "", err
			}
			if c, _ := s.Call(inv.Call); c.Phase != pawl.Started || c.Key != inv.Key {
				t.Errorf("while %s runs, the journal says that it is %v", inv.Call, c.Phase)
			}
			return "done", nil
		}, effect))
	}
	inner := says(t, pawl.Do(call("look", 1), call("put", 1), call("pay", 1), call("look", 2)), pawl.Say("done"))
	model := pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if n := len(events[pawl.ModelCalled](t, j)); n != inner.asked()+1 {
			t.Errorf("request %d leaves, and the journal knows of %d", inner.asked()+1, n)
		}
		for chunk, err := range inner.Stream(ctx, r) {
			if chunk.Reply != nil || err != nil {
				return *chunk.Reply, err
			}
		}
		return pawl.Reply{}, nil
	})
	res := ends(t, begin(t, engine.New(j, nil), pawl.Agent{Name: "all", Model: model, Tools: tools}), pawl.Success)
	if res.ToolCalls != 4 {
		t.Errorf("%d calls ran", res.ToolCalls)
	}
}

// toolOrder: of tools only what they are matters, and a difference is named.
func toolOrder(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	agent := parked(t, nil)
	ends(t, begin(t, e, agent), pawl.WaitingClientTool)
	submit(t, e, "c_1", "1")
	other := agent
	other.Tools = []pawl.Tool{agent.Tools[0], tool.Func("pay", "Pays at once.", func(context.Context, number) (string, error) { return "", nil }, pawl.Write)}
	_, err := e.Resume(t.Context(), other, run, nil)
	if parts := changed(t, err); !slices.Equal(parts, []string{"tool pay"}) {
		t.Errorf("changed: %v", parts)
	}
	agent.Model = script.Replies(do("ask", 1), do("pay", 1), pawl.Say("done")) // the ear would hear the order
	slices.Reverse(agent.Tools)
	ends(t, resume(t, e, agent, nil), pawl.Success)
}

// oldLogs: the logs of earlier builds are folded, listed and explained.
func oldLogs(t *testing.T) {
	files, err := filepath.Glob(filepath.FromSlash("../../../../testdata/histories/v*/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		first, err := pawl.DecodeEntry(lines[0])
		if err != nil {
			t.Fatal(err)
		}
		j := memory.New()
		lease, err := j.Claim(t.Context(), pawl.Claim{Run: first.Run, TTL: time.Hour, New: true})
		if err == nil {
			err = j.Append(t.Context(), pawl.Batch{Run: first.Run, Epoch: lease.Epoch, Records: lines})
		}
		if err != nil {
			t.Fatal(err)
		}
		report, err := explain.Of(engine.Entries(t.Context(), j, first.Run, 1), nil)
		if err != nil || report.Status == 0 || len(report.Decisions) == 0 {
			t.Errorf("%s: %v, %v, %d decisions", file, err, report.Status, len(report.Decisions))
		}
	}
}
