package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
)

// tap is a journal in memory that a test can listen in on and break.
type tap struct {
	*memory.Journal
	mu     sync.Mutex
	append func(b pawl.Batch, write func() error) error
	claim  func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error)
}

func newTap() *tap { return &tap{Journal: memory.New()} }

func (j *tap) on(f func(b pawl.Batch, write func() error) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.append = f
}

func (j *tap) onClaim(f func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.claim = f
}

func (j *tap) Append(ctx context.Context, b pawl.Batch) error {
	j.mu.Lock()
	f := j.append
	j.mu.Unlock()
	write := func() error { return j.Journal.Append(ctx, b) }
	if f == nil {
		return write()
	}
	return f(b, write)
}

func (j *tap) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	j.mu.Lock()
	f := j.claim
	j.mu.Unlock()
	take := func() (pawl.Lease, error) { return j.Journal.Claim(ctx, c) }
	if f == nil {
		return take()
	}
	return f(c, take)
}

// has reports whether a batch holds an event of a type.
func has(b pawl.Batch, typ string) bool {
	for _, r := range b.Records {
		if strings.Contains(string(r), `"type":"`+typ+`"`) {
			return true
		}
	}
	return false
}

// fake is a tool made of a function.
type fake struct {
	name   string
	effect pawl.Effect
	limit  time.Duration
	client bool
	run    func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error)
}

func (f fake) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: f.name, Description: "Does " + f.name + ".", Effect: f.effect, Timeout: f.limit, Client: f.client,
		Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (f fake) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	return f.run(ctx, inv)
}

// seeing is a Read that returns at once.
func seeing(name string) fake {
	return fake{name: name, effect: pawl.Read, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
		return pawl.Output{JSON: []byte(`"seen"`)}, nil
	}}
}

// quick is a fake whose grace is short, so that leaving it behind is.
type quick struct{ fake }

func (quick) Grace() time.Duration { return 20 * time.Millisecond }

func call(tool string, n int) pawl.Call {
	return pawl.Call{Tool: tool, Args: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// turns is a model that goes through turns and then says done. Which turn it is
// it reads off the conversation, so that it goes on where a log left off.
func turns(plan ...[]pawl.Call) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		k := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				k++
			}
		}
		if k >= len(plan) || r.Purpose == pawl.PurposeFinal {
			return pawl.Say("done"), nil
		}
		return pawl.Do(plan[k]...), nil
	})
}

// ledger is what effects leave in the world.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) add(inv pawl.Invocation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, inv.Tool+" "+inv.Call)
}

func (l *ledger) count(line string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.lines {
		if have == line {
			n++
		}
	}
	return n
}

func (l *ledger) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// spender looks, puts and pays, alone and in one batch, and writes down what it does.
func spender(write func(pawl.Invocation)) pawl.Agent {
	run := func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
		write(inv)
		return pawl.Output{JSON: fmt.Appendf(nil, "%q", "result of "+inv.Call)}, nil
	}
	return pawl.Agent{
		Name: "spender",
		Model: turns(
			[]pawl.Call{call("look", 1)},
			[]pawl.Call{call("put", 1)},
			[]pawl.Call{call("pay", 1)},
			[]pawl.Call{call("look", 2), call("look", 3), call("put", 2), call("pay", 2), call("look", 4)},
		),
		Tools: []pawl.Tool{
			fake{name: "look", effect: pawl.Read, run: run},
			fake{name: "put", effect: pawl.Idempotent, run: run},
			fake{name: "pay", effect: pawl.Write, run: run},
		},
	}
}

// settleAll resumes a run, settling its doubts by what the world says, until it ends.
func settleAll(t *testing.T, e *engine.Engine, agent pawl.Agent, run string, happened func(call string) bool) pawl.Result {
	t.Helper()
	for range 20 {
		h, err := e.Resume(t.Context(), agent, run, nil)
		if err != nil {
			t.Fatalf("resume: %v", err)
		}
		res, err := h.Wait(t.Context())
		if err != nil {
			t.Fatalf("resumed: %v", err)
		}
		if res.Status != pawl.StatusWaitingDoubt {
			return res
		}
		for _, p := range res.Pending {
			if happened(p.Call) {
				err = e.Resolve(t.Context(), run, p.Call, "test", engine.Happened(fmt.Appendf(nil, "%q", "result of "+p.Call)))
			} else {
				err = e.Resolve(t.Context(), run, p.Call, "test", engine.DidNotHappen())
			}
			if err != nil {
				t.Fatalf("settle %s: %v", p.Call, err)
			}
		}
	}
	t.Fatal("the run never ends")
	return pawl.Result{}
}

// sound holds that a log has no gaps and would be decided again as it was.
func sound(t *testing.T, e *engine.Engine, j pawl.Journal, agent pawl.Agent, run string) {
	t.Helper()
	if _, err := engine.Load(t.Context(), j, run); err != nil {
		t.Errorf("the log: %v", err)
	}
	if _, err := e.Replay(t.Context(), agent, run); err != nil {
		t.Errorf("replay: %v", err)
		dump(t, j, run)
	}
}

func dump(t *testing.T, j pawl.Journal, run string) {
	t.Helper()
	for row, err := range j.Read(t.Context(), run, 1) {
		if err != nil {
			t.Log(err)
			return
		}
		if row.Seq > 1 {
			t.Logf("%s", row.Data)
		}
	}
}

// wait waits for a run and fails the test if it does not come to an end.
func wait(t *testing.T, h *engine.Handle) (pawl.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := h.Wait(ctx)
	if ctx.Err() != nil {
		t.Fatal("the run hangs")
	}
	return res, err
}

// soon waits until something holds.
func closed[T any](c <-chan T) func() bool {
	return func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
}

func loaded(t *testing.T, j pawl.Journal, run string) *pawl.State {
	t.Helper()
	s, err := engine.Load(t.Context(), j, run)
	must(t, err)
	return s
}

// entriesOf yields the entries of a run, which can be read.
func entriesOf(t *testing.T, j pawl.Journal, run string) iter.Seq[pawl.Entry] {
	return func(yield func(pawl.Entry) bool) {
		t.Helper()
		for e, err := range engine.Entries(t.Context(), j, run, 1) {
			must(t, err)
			if !yield(e) {
				return
			}
		}
	}
}

var must, soon = check.Must, check.Soon

// replays holds that a run would be decided again as it was.
func replays(t *testing.T, e *engine.Engine, agent pawl.Agent, run string) {
	t.Helper()
	if _, err := e.Replay(t.Context(), agent, run); err != nil {
		t.Error(err)
	}
}
