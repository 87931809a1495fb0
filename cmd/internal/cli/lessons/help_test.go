package lessons

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// A lesson is a fault that was found elsewhere, by its number, and the test
// that fails if it is here too.
type lesson struct {
	name string
	test func(t *testing.T)
}

func learn(t *testing.T, lessons []lesson) {
	for _, l := range lessons {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			l.test(t)
		})
	}
}

// An ear is a model that keeps what it was asked. Every request is one that a
// provider would accept, or the test fails.
type ear struct {
	model pawl.Model
	mu    sync.Mutex
	heard []pawl.Request
}

func listen(t testing.TB, m pawl.Model) *ear { return &ear{model: pawltest.Check(t, m)} }

// says is a model that gives these replies, one a turn.
func says(t testing.TB, replies ...pawl.Reply) *ear { return listen(t, script.Replies(replies...)) }

// scripted is a model that reads YAML.
func scripted(t testing.TB, text string) *ear {
	t.Helper()
	m, err := script.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, m)
}

func (e *ear) Describe() pawl.ModelInfo { return e.model.(pawl.Describer).Describe() }

func (e *ear) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	e.mu.Lock()
	e.heard = append(e.heard, r)
	e.mu.Unlock()
	return e.model.Stream(ctx, r)
}

// asked is how often the model was.
func (e *ear) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

// last is what it was asked last.
func (e *ear) last() pawl.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.heard) == 0 {
		return pawl.Request{}
	}
	return e.heard[len(e.heard)-1]
}

// told is all that a request says, results included.
func told(r pawl.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				fmt.Fprintf(&b, "%v: %s\n", m.Role, p.Text)
			case pawl.Call:
				fmt.Fprintf(&b, "call %s: %s%s\n", p.ID, p.Tool, p.Args)
			case pawl.ToolResult:
				fmt.Fprintf(&b, "result %s: %s\n", p.Call, p.Text())
			}
		}
	}
	return b.String()
}

// result is what a request says of a call.
func result(r pawl.Request, call string) (pawl.ToolResult, bool) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p, ok := p.(pawl.ToolResult); ok && p.Call == call {
				return p, true
			}
		}
	}
	return pawl.ToolResult{}, false
}

// number is the argument of most tools here.
type number struct {
	N int `json:"n,omitempty"`
}

// does is a tool that does what f does.
func does(name string, effect pawl.Effect, f func(ctx context.Context, n int) (string, error)) pawl.Tool {
	return tool.Func(name, "Does "+name+".", func(ctx context.Context, a number) (string, error) { return f(ctx, a.N) }, effect)
}

// echo is a tool that tells what it was given, and counts.
func echo(name string, effect pawl.Effect, count *tally) pawl.Tool {
	return does(name, effect, func(_ context.Context, n int) (string, error) {
		count.add(name)
		return fmt.Sprintf("%s of %d", name, n), nil
	})
}

func call(tool string, n int) pawl.Call {
	return pawl.Call{Tool: tool, Args: fmt.Appendf(nil, `{"n":%d}`, n)}
}

func do(tool string, n int) pawl.Reply { return pawl.Do(call(tool, n)) }

// A tally counts what really happened. The zero tally is ready.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *tally) add(what string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[what]++
}

func (c *tally) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[what]
}

// A tap is a journal on disk whose writing can be listened in on.
type tap struct {
	*sqlite.Journal
	mu     sync.Mutex
	append func(b pawl.Batch, write func() error) error
	claim  func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error)
}

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

// disk is a journal that outlives its engine.
func disk(t testing.TB) *tap {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "pawl.db"))
}

func open(t testing.TB, path string) *tap {
	t.Helper()
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return &tap{Journal: j}
}

// run is the id of the only run of most tests.
const run = "r"

func begin(t testing.TB, e *engine.Engine, a pawl.Agent) *engine.Handle {
	t.Helper()
	h, err := e.Start(t.Context(), a, "go", &engine.StartOptions{ID: run})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func resume(t testing.TB, e *engine.Engine, a pawl.Agent, o *engine.ResumeOptions) *engine.Handle {
	t.Helper()
	h, err := e.Resume(t.Context(), a, run, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ends waits for a run that must end, or park, with a status.
func ends(t testing.TB, h *engine.Handle, want pawl.Status) pawl.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // of the bubble's clock, in one
	defer cancel()
	res, err := h.Wait(ctx)
	if err != nil || res.Status != want {
		t.Fatalf("the run is %v (%s), %v; want %v", res.Status, res.Reason.Detail, err, want)
	}
	return res
}

// inMemory runs an agent to its end on a journal in memory.
func inMemory(t testing.TB, a pawl.Agent, want pawl.Status) (pawl.Result, *memory.Journal) {
	t.Helper()
	j := memory.New()
	return ends(t, begin(t, engine.New(j, nil), a), want), j
}

// state folds the run's log.
func state(t testing.TB, j pawl.Journal) *pawl.State {
	t.Helper()
	s, err := engine.Load(t.Context(), j, run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// log is the run's entries so far.
func log(t testing.TB, j pawl.Journal) (all []pawl.Entry) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// events are the run's events of one type.
func events[E pawl.Event](t testing.TB, j pawl.Journal) (all []E) {
	t.Helper()
	for _, e := range log(t, j) {
		if ev, ok := e.Event.(E); ok {
			all = append(all, ev)
		}
	}
	return all
}

// sound holds that the log would be decided again as it was.
func sound(t testing.TB, e *engine.Engine, a pawl.Agent) {
	t.Helper()
	if _, err := e.Replay(t.Context(), a, run); err != nil {
		t.Error("replay:", err)
	}
}

// cut is a journal whose log ends after n entries, as its writer's death left it.
func cut(t testing.TB, from pawl.Journal, n int) *tap {
	t.Helper()
	j := disk(t)
	var lines [][]byte
	for row, err := range from.Read(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) < n {
			lines = append(lines, row.Data)
		}
	}
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: run, TTL: time.Hour, New: true})
	if err == nil {
		err = j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, Records: lines})
	}
	if err == nil {
		_, err = j.Claim(t.Context(), pawl.Claim{Run: run, Epoch: lease.Epoch})
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// bubble runs a test on a clock of its own, and waits for what engines leave running.
func bubble(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(24 * time.Hour)
	})
}

// soon waits until something holds.
func soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// held reports whether an error says that a run has a live owner.
func held(err error) bool {
	_, ok := errors.AsType[*pawl.HeldError](err)
	return ok
}

// changed is the parts in which an agent differs from the one a run began with.
func changed(t testing.TB, err error) []string {
	t.Helper()
	c, ok := errors.AsType[*engine.ChangedError](err)
	if !ok {
		t.Fatalf("the run is resumed under another agent: %v", err)
	}
	return c.Parts
}

// metric is a goal that a number is reached.
type metric struct {
	mu    sync.Mutex
	value float64
	open  []string
}

func (m *metric) set(value float64, open ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value, m.open = value, open
}

func (m *metric) Measure(context.Context, pawl.Observation) (pawl.Measure, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return pawl.Measure{Value: m.value, Open: m.open}, nil
}
