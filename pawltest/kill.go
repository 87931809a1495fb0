package pawltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// KillEverywhere tests that an agent survives the death of its process. It runs the
// agent on an input to its end and returns the log, after a handoff that of all legs. Then,
// for every entry of that log and of the logs of its child runs, it runs a new agent, kills
// the process there, and resumes the run in another engine: once before the entry takes
// effect, and once after. Each run must end as the first one did, no Write may run twice
// under one key, no reply of a model that was logged may be asked for again, and every step
// must be decided again in the same way.
//
//	func TestKills(t *testing.T) {
//		pawltest.KillEverywhere(t, newAgent, "Refund order 7.", nil)
//	}
//
// build makes an agent with tools that act on a new world, such as one in memory. Its
// model must reply by the request alone, as a script does. A Write whose outcome the log
// does not know is resolved by what its tool really did.
//
// o are the options of the engines. An agent with approvals needs an Approver there, which
// decides about the same call in the same way each time; one that asks questions or has client
// tools, a [Person]. Without a Backoff, failed model calls are retried at once.
func KillEverywhere(t *testing.T, build func() pawl.Agent, input string, o *engine.Options) []pawl.Entry {
	t.Helper()
	o = atOnce(o)
	first := newSurvivor(build, o)
	result, err := first.begin(t.Context(), first.journal, input)
	if err != nil {
		t.Fatal(err)
	}
	want := first.outcome(t, result)
	legs := append([]string{}, result.Legs...)
	if len(legs) == 0 {
		legs = []string{killedRun}
	}
	var log, children []pawl.Entry
	for _, run := range legs {
		log = append(log, entriesOf(t, first.journal, run)...)
	}
	for _, e := range log {
		if c, ok := e.Event.(pawl.ChildStarted); ok {
			children = append(children, entriesOf(t, first.journal, c.Child)...)
		}
	}
	kills := append(log[:len(log)-1:len(log)-1], children...)
	for i, e := range kills {
		for _, acting := range []bool{false, true} {
			if acting && (i+1 == len(kills) && len(children) > 0 || i+1 < len(kills) && kills[i+1].Run != e.Run) {
				continue // the next entry is another run's
			}
			name := fmt.Sprintf("killed after %d %s", e.Seq, e.Type())
			if e.Run != killedRun {
				name += " of " + e.Run
			}
			if acting {
				name += " and what it led to"
			}
			t.Run(name, func(t *testing.T) {
				s := newSurvivor(build, o)
				result, err := s.begin(t.Context(), &testkit.Mortal{Journal: s.journal, Cut: until(e.Run, e.Seq, acting), Frees: true}, input)
				switch {
				case err != nil:
					result = s.resume(t)
				case i < len(log)-1: // else it is a child run, which may have done less this time than those beside it
					t.Fatal("the process was not killed: the run wrote fewer entries than before")
				}
				if diff := cmp.Diff(want, s.outcome(t, result)); diff != "" {
					t.Errorf("it came out differently (-undisturbed +killed):\n%s", diff)
				}
			})
		}
	}
	return log
}

const killedRun = "run"

func entriesOf(t testing.TB, j *memory.Journal, run string) (log []pawl.Entry) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	return log
}

// An outcome must be the same however often a run was killed.
type outcome struct {
	Status     pawl.Status
	Verdict    pawl.Verdict
	Legs       []string
	Answer     string
	Output     string
	Iterations int
	Steps      []pawl.Summary
	Replies    int            // in the log
	Writes     map[string]int // that ran, by tool
}

// A survivor is an agent with its world and its journal, which outlive processes.
type survivor struct {
	agent   pawl.Agent
	journal *memory.Journal
	options *engine.Options

	mu      sync.Mutex
	replies int                // that the agent's models gave
	writes  map[string]*effect // by key
}

type effect struct {
	tool  string
	times int
	out   pawl.Output
}

func newSurvivor(build func() pawl.Agent, o *engine.Options) *survivor {
	s := &survivor{journal: memory.New(), options: o, writes: map[string]*effect{}}
	s.agent = s.watch(build())
	for _, mate := range team.Of(&s.agent)[1:] {
		*mate = s.watch(*mate)
	}
	return s
}

// mostPaused is how often a run that is paused is resumed.
const mostPaused = 20

// atOnce returns options with which failed model calls are retried at once, unless they say
// when.
func atOnce(o *engine.Options) *engine.Options {
	if o == nil {
		o = &engine.Options{}
	}
	own := *o
	if own.Backoff == nil {
		own.Backoff = func(int) time.Duration { return 0 }
	}
	return &own
}

func (s *survivor) begin(ctx context.Context, j pawl.Journal, input string) (pawl.Result, error) {
	e := engine.New(journalFor(j, s.options), s.options)
	defer e.Close() // nothing of a dead process goes on
	return drive(ctx, e, s.agent, input, s.options, mostPaused)
}

// resume resumes the run until it ends or waits for somebody else than this test.
func (s *survivor) resume(t *testing.T) pawl.Result {
	t.Helper()
	e := engine.New(journalFor(s.journal, s.options), s.options)
	for paused := 0; ; {
		run, ended := s.unended(t)
		if ended != nil {
			return *ended
		}
		h, err := e.Resume(t.Context(), s.agent, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := h.Wait(t.Context())
		if _, held := errors.AsType[*pawl.HeldError](err); held && t.Context().Err() == nil {
			time.Sleep(time.Millisecond) // the dead process has yet to let go of a child run that it was about to begin
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if result.Status == pawl.StatusPaused && paused < mostPaused {
			paused++ // a child run of the dead process was still being suspended
			continue
		}
		given, err := respond(t.Context(), e, s.options, result)
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != pawl.StatusWaitingDoubt {
			if !given {
				return result
			}
			continue
		}
		for _, p := range result.Pending {
			if p.Kind != "doubt" { // it may ask a question meanwhile
				continue
			}
			if err := s.resolve(t.Context(), e, p); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// unended returns the first leg of the run that has not ended, or the result of the last if
// all have: a leg may have ended before the process died at the end of the leg before.
func (s *survivor) unended(t *testing.T) (run string, ended *pawl.Result) {
	t.Helper()
	for run = killedRun; ; {
		state, err := engine.Load(t.Context(), s.journal, run)
		if err != nil {
			t.Fatal(err)
		}
		if !state.Status().Ended() {
			return run, nil
		}
		result := state.Result()
		if _, handed := team.HandedIn(result); !handed {
			return "", &result
		}
		run = engine.NextLeg(state.Head().Thread, run)
	}
}

// resolve says what a Write really did whose outcome is unknown.
func (s *survivor) resolve(ctx context.Context, e *engine.Engine, p pawl.Pending) error {
	state, err := engine.Load(ctx, s.journal, p.Run)
	if err != nil {
		return err
	}
	call, _ := state.Call(p.Call)
	s.mu.Lock()
	done := s.writes[call.Key]
	s.mu.Unlock()
	how := engine.DidNotHappen()
	if done != nil {
		how = engine.Happened(done.out.JSON)
	}
	return e.Resolve(ctx, p.Run, p.Call, "pawltest", how)
}

// outcome checks and summarises a run that is over.
func (s *survivor) outcome(t *testing.T, r pawl.Result) outcome {
	t.Helper()
	for _, run := range append([]string{killedRun}, r.Legs...) {
		if _, err := engine.New(journalFor(s.journal, s.options), s.options).Replay(t.Context(), s.agent, run); err != nil {
			t.Errorf("replay: %v", err)
		}
	}
	o := outcome{Status: r.Status, Verdict: r.Verdict, Legs: r.Legs, Answer: r.Answer, Output: string(r.Output), Iterations: r.Iterations, Steps: r.Steps, Writes: map[string]int{}}
	called := 0
	for h, err := range s.journal.List(t.Context(), pawl.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range engine.Entries(t.Context(), s.journal, h.Run, 1) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Event.(type) {
			case pawl.ModelCalled:
				called++
			case pawl.ModelReplied:
				o.Replies++
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replies > called {
		t.Errorf("the models gave %d replies, and the log has %d requests: some were bought behind its back", s.replies, called)
	}
	for key, e := range s.writes {
		if e.times > 1 {
			t.Errorf("the Write %s ran %d times under the key %s", e.tool, e.times, key)
		}
		o.Writes[e.tool] += e.times
	}
	return o
}

// watch counts what an agent and its agents do.
func (s *survivor) watch(a pawl.Agent) pawl.Agent {
	if a.Model != nil {
		a.Model = watched{a.Model, s}
	}
	a.Fallback = append([]pawl.Model(nil), a.Fallback...)
	for i, m := range a.Fallback {
		a.Fallback[i] = watched{m, s}
	}
	a.Tools = append([]pawl.Tool(nil), a.Tools...)
	for i, t := range a.Tools {
		switch t := t.(type) {
		case pawl.Delegate:
			a.Tools[i] = delegated{t, s.watch(t.Agent())}
		case pawl.Recaller:
		default:
			if effect := t.Info().Effect; effect != pawl.Read && effect != pawl.Idempotent && !t.Info().Client {
				a.Tools[i] = s.write(t)
			}
		}
	}
	return a
}

// watched is a model whose replies are counted.
type watched struct {
	pawl.Model
	survivor *survivor
}

// Describe describes the model.
func (w watched) Describe() pawl.ModelInfo {
	if d, ok := w.Model.(pawl.Describer); ok {
		return d.Describe()
	}
	return pawl.ModelInfo{Name: "func"}
}

// Hosts implements tool.Host.
func (w watched) Hosts(tools []pawl.ToolInfo) error { return tool.Hosts(w.Model, tools) }

// Stream counts a whole reply.
func (w watched) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for c, err := range w.Model.Stream(ctx, r) {
			if c.Reply != nil && err == nil {
				w.survivor.mu.Lock()
				w.survivor.replies++
				w.survivor.mu.Unlock()
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// delegated is an agent as a tool that is watched itself.
type delegated struct {
	pawl.Delegate
	agent pawl.Agent
}

// Agent returns the watched agent.
func (d delegated) Agent() pawl.Agent { return d.agent }

// write is a Write that remembers what it did.
type write struct {
	pawl.Tool
	survivor *survivor
}

type witness interface {
	Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
}

func (s *survivor) write(t pawl.Tool) pawl.Tool {
	if w, ok := t.(witness); ok {
		return struct {
			write
			witness
		}{write{t, s}, w}
	}
	return write{t, s}
}

// Reconcile asks the tool, if it can say what a call did.
func (w write) Reconcile(ctx context.Context, inv pawl.Invocation) (pawl.Output, bool, error) {
	if r, ok := w.Tool.(pawl.Reconciler); ok {
		return r.Reconcile(ctx, inv)
	}
	return pawl.Output{}, false, errors.New("the tool cannot know")
}

// Supervised passes on where a command says that it is recorded.
func (w write) Supervised(inv pawl.Invocation) string {
	if s, ok := w.Tool.(interface {
		Supervised(inv pawl.Invocation) string
	}); ok {
		return s.Supervised(inv)
	}
	return ""
}

// Run runs the tool and remembers its result under the call's key.
func (w write) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	out, err := w.Tool.Run(ctx, inv)
	if err != nil {
		return out, err // it may run again
	}
	s := w.survivor
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.writes[inv.Key]
	if e == nil {
		e = &effect{tool: inv.Tool}
		s.writes[inv.Key] = e
	}
	e.times++
	e.out = out
	return out, nil
}

// until dies when a run has written its last entry or, acting, when it tries to write another one.
func until(run string, last uint64, acting bool) func(pawl.Batch) (n int, dies bool, err error) {
	return func(b pawl.Batch) (n int, dies bool, err error) {
		end := b.After + uint64(len(b.Records))
		if b.Run != run || end < last || end == last && acting {
			return len(b.Records), false, nil
		}
		return int(max(b.After, min(end, last)) - b.After), true, nil
	}
}
