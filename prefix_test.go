package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/stop"
)

// realm is a world that a run changes, and how often each effect took place.
type realm struct {
	mu      sync.Mutex
	effects map[string]int // by idempotency key
	ran     map[string]int // by call
	bought  int            // replies
}

type deed struct {
	realm *realm
	info  pawl.ToolInfo
}

func (d deed) Info() pawl.ToolInfo { return d.info }

func (d deed) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	d.realm.note(d.info.Effect, inv.Call, inv.Key)
	return pawl.Output{JSON: result(inv.Tool, inv.Args)}, nil
}

func result(tool string, args []byte) json.RawMessage {
	return fmt.Appendf(nil, `"%s did %d"`, tool, len(args))
}

func (r *realm) note(effect pawl.Effect, call, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran[call]++
	switch effect {
	case pawl.Write:
		r.effects[call]++
	case pawl.Idempotent:
		r.effects[key] = 1
	}
}

func (r *realm) Observe(context.Context) (pawl.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return pawl.Observation{Text: fmt.Sprint(len(r.effects), " effects")}, nil
}

func (r *realm) Measure(context.Context, pawl.Observation) (pawl.Measured, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return pawl.Measured{Value: float64(len(r.effects))}, nil
}

// schemed is an agent whose model says, at every turn, what a seed made it say
// there, for any purpose and any number of requests; its last words tell all results it saw.
func schemed(t testing.TB, seed uint64) (pawl.Agent, *realm) {
	r := rand.New(rand.NewPCG(seed, 7))
	world := &realm{effects: map[string]int{}, ran: map[string]int{}}
	any := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	names := []string{"look", "set", "pay", "none", "__store_memory__"}
	var script [][]pawl.Call
	for range 1 + r.IntN(4) {
		var calls []pawl.Call
		for range 1 + r.IntN(4) {
			name := names[r.IntN(len(names))]
			args := fmt.Appendf(nil, `{"n":%d}`, r.IntN(3))
			if name == "__store_memory__" {
				args = []byte(`{"key":"k","value":1}`)
			}
			if r.IntN(6) == 0 {
				args = []byte(`[]`)
			}
			calls = append(calls, pawl.Call{Tool: name, Args: args})
		}
		script = append(script, calls)
	}
	model := pawl.ModelFunc(func(_ context.Context, q pawl.Request) (pawl.Reply, error) {
		world.bought++
		turn, seen := 0, ""
		for _, m := range q.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
			for _, p := range m.Parts {
				if res, ok := p.(pawl.ToolResult); ok {
					seen += res.Text() + "; "
				}
			}
		}
		if turn < len(script) && q.Purpose == pawl.PurposeTurn {
			return pawl.Do(script[turn]...), nil
		}
		return pawl.Say(fmt.Sprintf("I saw %s", seen)), nil
	})
	a := pawl.Agent{Name: "schemed", Model: pawltest.Check(t, model), Builtins: true, Limits: pawl.Limits{Iterations: 3}, Tools: []pawl.Tool{
		deed{world, pawl.ToolInfo{Name: "look", Effect: pawl.Read, Input: any}},
		deed{world, pawl.ToolInfo{Name: "set", Effect: pawl.Idempotent, Input: any}},
		deed{world, pawl.ToolInfo{Name: "pay", Effect: pawl.Write, Input: any}},
	}}
	if seed%2 == 1 {
		a.Observer = world.Observe
		a.Goal = &pawl.Goal{Metric: world.Measure, Success: must(stop.Parse(fmt.Sprintf("metric >= %d", 1+r.IntN(4)), nil))}
	}
	if seed%3 == 1 {
		a.Stop = must(stop.Parse(`tool_called("pay") && iterations >= 2`, nil))
	}
	return a, world
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func logOf(t testing.TB, j pawl.Journal, run string) (list []pawl.Entry) {
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// FuzzPrefix: a run that is cut off after any entry comes to the same end when
// it is resumed; no reply that the log has is bought again, no call that it has
// the result of is run again, and the whole log replays.
func FuzzPrefix(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, false)
		f.Add(seed+100, true)
	}
	f.Fuzz(func(t *testing.T, seed uint64, hooked bool) {
		synctest.Test(t, func(t *testing.T) { allPrefixes(t, seed, hooked) })
	})
}

// whims is a hook that wants one thing in three made again: always the same
// things of a seed, also when it is asked again.
type whims uint64

func (whims) Name() string { return "whims" }

func (w whims) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	h := fnv.New64a()
	switch ev := e.Event.(type) {
	case pawl.ModelReplied:
		fmt.Fprint(h, uint64(w), e.Iteration, ev.Reply.Parts)
	case pawl.ToolFinished:
		c, _ := s.Call(ev.Call)
		fmt.Fprint(h, uint64(w), ev.Call, c.Retries)
	default:
		return engine.Direction{}
	}
	return engine.Direction{Retry: h.Sum64()%3 == 0, Reason: "a whim"}
}

func allPrefixes(t *testing.T, seed uint64, hooked bool) {
	var o engine.Options
	if hooked {
		o.Hooks = []engine.Hook{whims(seed)}
	}
	agent, full := schemed(t, seed)
	j := volatile{memory.New()}
	first := must(engine.New(j, &o).Start(t.Context(), agent, "go", &engine.StartOptions{ID: "run"}))
	want := must(first.Wait(t.Context()))
	log := logOf(t, j, "run")
	for cut := 1; cut < len(log); cut++ {
		if _, measured := log[cut].Event.(pawl.Measured); measured {
			continue // observing and measuring are one step, written at once
		}
		agent, world := schemed(t, seed)
		happened := cut%2 == 0 // what was under way when it was cut off
		j := volatile{memory.New()}
		lease := must(j.Claim(t.Context(), pawl.Claim{Run: "run", Owner: "first", TTL: 1, New: true}))
		batch := pawl.Batch{Run: "run", Epoch: lease.Epoch}
		open := map[string]pawl.ToolStarted{}
		for _, e := range log[:cut] {
			batch.Records = append(batch.Records, must(e.AppendJSON(nil)))
			switch e := e.Event.(type) {
			case pawl.ModelReplied:
				world.bought++
			case pawl.ToolStarted:
				open[e.Call] = e
			case pawl.ToolFinished:
				if call, ok := open[e.Call]; ok {
					world.note(call.Effect, e.Call, call.Key)
					delete(open, e.Call)
				}
			}
		}
		for id, call := range open {
			if happened && call.Effect == pawl.Write {
				world.note(call.Effect, id, call.Key)
			}
		}
		if err := j.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		must(j.Claim(t.Context(), pawl.Claim{Run: "run", Owner: "first", Epoch: lease.Epoch})) // given up
		e := engine.New(j, &o)
		got := finish(t, e, agent, happened)
		where := fmt.Sprintf("seed %d, cut after %s", seed, pawltest.Line(log[cut-1]))
		if got.Status != want.Status || got.Answer != want.Answer || got.Iterations != want.Iterations || got.Reason.Leaf != want.Reason.Leaf {
			t.Errorf("%s: ended %v %q (%d, %s), want %v %q (%d, %s)\n%s", where,
				got.Status, got.Answer, got.Iterations, got.Reason.Leaf, want.Status, want.Answer, want.Iterations, want.Reason.Leaf, lines(logOf(t, j, "run")))
		}
		// Who sees on resuming that the goal is reached leaves things undone.
		wrong := func(got, want int) bool { return got > want || got < want && agent.Goal == nil }
		if wrong(world.bought, full.bought) {
			t.Errorf("%s: %d replies were bought, want %d", where, world.bought, full.bought)
		}
		for id, n := range full.ran {
			if got := world.ran[id]; wrong(got, n) {
				t.Errorf("%s: %s was run %d times, want %d\n%s", where, id, got, n, lines(logOf(t, j, "run")))
			}
		}
		if _, err := e.Replay(t.Context(), agent, "run"); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// finish resumes until the run ends, and settles every doubt.
func finish(t *testing.T, e *engine.Engine, agent pawl.Agent, happened bool) pawl.Result {
	for range 20 {
		run, err := e.Resume(t.Context(), agent, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		res := must(run.Wait(t.Context()))
		if res.Status != pawl.StatusWaitingDoubt {
			return res
		}
		for _, p := range res.Pending {
			what := engine.Resolution{DidNotHappen: true}
			if happened {
				what = engine.Resolution{Happened: result(p.Tool, p.Args)}
			}
			if err := e.Resolve(t.Context(), "run", p.Call, "me", what); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("the run does not end")
	return pawl.Result{}
}

func lines(log []pawl.Entry) string {
	var b strings.Builder
	for _, e := range log {
		b.WriteString(pawltest.Line(e) + "\n")
	}
	return b.String()
}

// volatile hides that a journal is memory: the tests of what outlives a
// process stay in one.
type volatile struct{ *memory.Journal }

// FuzzCeilings: whatever a provider claims to have used, no request is sent
// that does not fit what is left of tokens and dollars.
func FuzzCeilings(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		figures := []int{-1 << 62, -1, 0, 0, 1, 50, 500, 5000, 50_000, 1 << 62}
		figure := func() int { return figures[r.IntN(len(figures))] }
		price := pawl.Price{Input: r.Float64() * 10, Output: r.Float64() * 50, CacheWrite: r.Float64() * 20}
		model := pricedFunc{"priced", &price, func(context.Context, pawl.Request) (pawl.Reply, error) {
			u := pawl.Usage{Input: figure(), Output: figure(), CacheRead: figure(), CacheWrite: figure(), Reasoning: figure()}
			if r.IntN(5) == 0 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.Class(1 + r.IntN(6)), Usage: u}
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{"n":%d}`, r.IntN(100))}}, Usage: u}, nil
		}}
		world := &realm{}
		a := pawl.Agent{Name: "spender", Model: pawltest.Check(t, model),
			Limits:   pawl.Limits{Tokens: 1 + r.IntN(100_000), Cost: r.Float64(), Iterations: 1 + r.IntN(30)},
			Sampling: pawl.Sampling{MaxTokens: r.IntN(10_000), Effort: pawl.Efforts[r.IntN(len(pawl.Efforts))]},
			Tools:    []pawl.Tool{deed{world, pawl.ToolInfo{Name: "look", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}}}}
		j := memory.New()
		quick := &engine.Options{Backoff: func(int) time.Duration { return 0 }}
		run := must(engine.New(j, quick).Start(t.Context(), a, strings.Repeat("go ", r.IntN(3000)), nil))
		res := must(run.Wait(t.Context()))
		if res.Status == pawl.StatusSuccess || res.Status == pawl.StatusRunning {
			t.Fatalf("the run ended as %v", res.Verdict)
		}
		s := new(pawl.State)
		for _, e := range logOf(t, j, run.ID()) {
			if c, ok := e.Event.(pawl.ModelCalled); ok {
				cost, _ := s.Cost()
				if s.Tokens()+c.Reserved > a.Limits.Tokens || c.Reserved < 0 || s.Tokens() < 0 {
					t.Errorf("seed %d, entry %d: %d used and %d reserved of %d tokens", seed, e.Seq, s.Tokens(), c.Reserved, a.Limits.Tokens)
				}
				if cost+c.Cost > a.Limits.Cost*(1+1e-9) || c.Cost < 0 || cost < 0 {
					t.Errorf("seed %d, entry %d: $%g used and $%g reserved of $%g", seed, e.Seq, cost, c.Cost, a.Limits.Cost)
				}
				if e.Iteration > a.Limits.Iterations {
					t.Errorf("seed %d, entry %d: turn %d of %d", seed, e.Seq, e.Iteration, a.Limits.Iterations)
				}
			}
			s.Fold(e)
		}
	})
}

// pricedFunc is a model with a name and a price.
type pricedFunc struct {
	name  string
	price *pawl.Price
	pawl.ModelFunc
}

func (p pricedFunc) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: p.name, Price: p.price} }

// TestCancelOutlivesCrash: a cancel that was taken in, and whose run died
// before it could end, still ends the run; one that ended it does not end the next.
func TestCancelOutlivesCrash(t *testing.T) {
	agent, _ := schemed(t, 0)
	m := must(pawl.NewMachine(agent))
	s := new(pawl.State)
	put := func(e pawl.Event) { s.Fold(pawl.Entry{Run: "r", Seq: s.Seq() + 1, At: s.Seq(), Event: e}) }
	put(pawl.RunStarted{Declaration: m.Declaration()})
	put(pawl.CancelRequested{By: "anna", Signal: 1})
	put(pawl.RunResumed{Epoch: 2})
	if f, ok := m.Decide(s).(pawl.Finish); !ok || f.Verdict.Status != pawl.StatusCancelled {
		t.Errorf("after the crash: %#v", m.Decide(s))
	}
	put(pawl.RunStopped{Status: pawl.StatusCancelled})
	put(pawl.RunResumed{Epoch: 3})
	if _, ok := m.Decide(s).(pawl.Think); !ok {
		t.Errorf("after resuming: %#v", m.Decide(s))
	}
}
