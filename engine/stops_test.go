package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// A counted journal counts its operations, and those of the stage that uses it, and calls a
// function before one of them.
type counted struct {
	*memory.Journal
	mu   sync.Mutex
	n    int
	at   int
	what string
	do   func() error
}

func (j *counted) step(op, run string) error {
	j.mu.Lock()
	j.n++
	hit := j.n == j.at
	if hit {
		j.what = op + " " + run
	}
	j.mu.Unlock()
	if hit {
		return j.do()
	}
	return nil
}

func (j *counted) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if c.Epoch != 0 { // a lease that cannot be released lapses
		_ = j.step("renew or release", c.Run)
	} else if err := j.step("claim", c.Run); err != nil {
		return pawl.Lease{}, err
	}
	return j.Journal.Claim(ctx, c)
}

func (j *counted) Append(ctx context.Context, b pawl.Batch) error {
	if err := j.step("append", b.Run); err != nil {
		return err
	}
	return j.Journal.Append(ctx, b)
}

func (j *counted) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if err := j.step("send", l.Run); err != nil {
		return l, err
	}
	return j.Journal.Send(ctx, l)
}

func (j *counted) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return failing(j.Journal.Read(ctx, run, from), j.step("read", run))
}

func (j *counted) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return failing(j.Journal.Signals(ctx, run, after), j.step("signals", run))
}

func (j *counted) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return failing(j.Journal.List(ctx, q), j.step("list", q.Run))
}

func failing[T any](seq iter.Seq2[T, error], err error) iter.Seq2[T, error] {
	if err == nil {
		return seq
	}
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}

// A stage is where a run with children, in the foreground and in the background, is played.
type stage struct {
	j    *counted
	paid ledger
}

// does is a tool of which each Write is noted.
func (s *stage) does(name string, effect pawl.Effect) pawl.Tool {
	return fake{name: name, effect: effect, run: func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
		_ = s.j.step("tool", inv.Run)
		if effect == pawl.Write {
			inv.Call = inv.Run + " " + inv.Call
			s.paid.add(inv)
		} else if ctx.Err() != nil {
			return pawl.Output{}, ctx.Err()
		}
		return pawl.Output{JSON: []byte(`"done"`)}, nil
	}}
}

func (s *stage) turns(plan ...[]pawl.Call) pawl.Model {
	model := turns(plan...).(pawl.ModelFunc)
	return priced{pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		_ = s.j.step("model", r.Run)
		if ctx.Err() != nil {
			return pawl.Reply{}, ctx.Err()
		}
		reply, err := model(ctx, r)
		reply.Usage = pawl.Usage{Input: 100, Output: 7}
		return reply, err
	})}
}

func with(tool, args string) pawl.Call { return pawl.Call{Tool: tool, Args: []byte(args)} }

// plays are the agents that are stopped everywhere.
var plays = map[string]func(s *stage) pawl.Agent{
	"family": func(s *stage) pawl.Agent {
		pay, look := s.does("pay", pawl.Write), s.does("look", pawl.Read)
		leaf := pawl.Agent{Name: "leaf", Description: "Pays.", Model: s.turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{pay}}
		clerk := pawl.Agent{Name: "clerk", Description: "Pays.", Model: s.turns([]pawl.Call{call("pay", 1), ask("leaf")}), Tools: []pawl.Tool{pay, tool.Agent(leaf, nil)}}
		spy := pawl.Agent{Name: "spy", Description: "Looks.", Model: s.turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{look}}
		return pawl.Agent{Name: "boss", Model: s.turns(
			[]pawl.Call{ask("spy"), ask("spy")},
			[]pawl.Call{call("look", 1), ask("clerk"), call("look", 2)},
			[]pawl.Call{call("pay", 3)},
		), Tools: []pawl.Tool{pay, look, tool.Agent(clerk, nil), tool.Agent(spy, nil)}}
	},
	"flow": func(s *stage) pawl.Agent {
		branch := func(id string) []workflow.Step {
			return []workflow.Step{{ID: "say" + id, Single: &workflow.Single{Prompt: "Say."}}, {ID: "pay" + id, Tool: "pay", Args: map[string]any{"n": 1}}}
		}
		return workflow.New(pawl.Agent{Name: "flow", Model: s.turns(), Tools: []pawl.Tool{s.does("pay", pawl.Write)}},
			workflow.Step{ID: "both", Parallel: [][]workflow.Step{branch("a"), branch("b")}},
			workflow.Step{ID: "last", Tool: "pay", Args: map[string]any{"n": 2}},
		)
	},
	"race": func(s *stage) pawl.Agent {
		node := func(id string) workflow.Step { return workflow.Step{ID: id, Single: &workflow.Single{Prompt: "Say."}} }
		return workflow.Graph(pawl.Agent{Name: "race", Model: s.turns()}, []workflow.Step{node("a"), node("b"), node("end")},
			workflow.Edge{From: "a", To: "end", Join: workflow.First}, workflow.Edge{From: "b", To: "end", Join: workflow.First})
	},
	"handoff": func(s *stage) pawl.Agent {
		pay := s.does("pay", pawl.Write)
		billing := pawl.Agent{Name: "billing", Description: "Pays.", Tools: []pawl.Tool{pay}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if last := r.Messages[len(r.Messages)-1]; len(last.Parts) > 0 {
				if res, ok := last.Parts[0].(pawl.ToolResult); ok && res.Text() == "done" {
					return pawl.Say("done"), nil
				}
			}
			return pawl.Do(call("pay", 1)), nil
		})}
		return pawl.Agent{Name: "triage", Description: "Sorts.", Tools: []pawl.Tool{team.Handoff(&billing, nil)},
			Model: s.turns([]pawl.Call{with("handoff_to_billing", `{"reason":"a refund"}`)})}
	},
	"approvals": func(s *stage) pawl.Agent {
		pay := s.does("pay", pawl.Write)
		clerk := pawl.Agent{Name: "clerk", Description: "Pays.", Model: s.turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{pay}}
		return pawl.Agent{Name: "boss", Model: s.turns([]pawl.Call{call("pay", 1), ask("clerk")}), Policies: []pawl.Policy{approval.For("pay")},
			Observer: func(context.Context) (pawl.Observation, error) {
				return pawl.Observation{Text: "seen"}, s.j.step("observer", "")
			},
			Tools: []pawl.Tool{pay, tool.Agent(clerk, nil)}}
	},
}

// stops are the ways in which a run is stopped.
var stops = map[string]func(e *engine.Engine, j *memory.Journal, end func()) error{
	"the engine has closed": func(e *engine.Engine, _ *memory.Journal, _ func()) error {
		go e.Close()
		for !engine.Suspends(e) {
			time.Sleep(10 * time.Microsecond)
		}
		return nil
	},
	"the engine begins to close": func(e *engine.Engine, _ *memory.Journal, _ func()) error {
		engine.BeginClose(e)
		time.AfterFunc(time.Millisecond, func() { _ = e.Close() })
		return nil
	},
	"its context ends": func(_ *engine.Engine, _ *memory.Journal, end func()) error { end(); return nil },
	"cancelled": func(e *engine.Engine, _ *memory.Journal, _ func()) error {
		_ = e.Cancel(context.Background(), "r", "test", "enough") // it may have ended
		return nil
	},
	"its lease is lost":                   lose,
	"its owner dies, and it is cancelled": lose,
	"the journal fails":                   func(*engine.Engine, *memory.Journal, func()) error { return errDisk },
}

// lose takes all runs from their owner.
func lose(_ *engine.Engine, j *memory.Journal, _ func()) error {
	for h := range j.List(context.Background(), pawl.Query{}) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: h.Run, Owner: "other", TTL: time.Hour, Over: h.Lease.Epoch})
		if err == nil {
			_, _ = j.Claim(context.Background(), pawl.Claim{Run: h.Run, Owner: "other", Epoch: l.Epoch})
		}
	}
	return nil
}

// TestStopsEverywhere stops a run at each operation of its journal, its models and its tools. No
// run ends as failed, and another engine brings it to the end that it has undisturbed, with each
// Write once.
func TestStopsEverywhere(t *testing.T) {
	for name, agent := range plays {
		undisturbed := play(t, agent, 0, "", nil)
		for way, stop := range stops {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				for at := 1; at <= undisturbed.operations && !t.Failed(); at++ {
					now := play(t, agent, at, way, stop)
					if t.Failed() {
						t.Errorf("stopped at %d: %s", at, now.where)
					} else if ended := now.runs["r"]; ended != undisturbed.runs["r"] || !slices.Equal(now.paid, undisturbed.paid) {
						if !strings.HasSuffix(way, "cancelled") || !slices.Contains(slices.Collect(maps.Values(now.runs)), pawl.StatusCancelled) {
							t.Errorf("stopped at %d, %s: the runs end as %v, paid %v; want %v, %v", at, now.where, now.runs, now.paid, undisturbed.runs, undisturbed.paid)
						}
					}
				}
			})
		}
	}
}

// accounts holds that runs that have ended have used what their logs and those of the runs that
// they began say, which is what an account of a budget has spent.
func accounts(t *testing.T, j pawl.Journal, runs []string) {
	t.Helper()
	own := map[string]budget.Amount{}
	for _, run := range runs {
		own[run] = booked(t, j, run)
	}
	for _, run := range runs {
		var logs budget.Amount
		for below, amount := range own {
			if strings.HasPrefix(below+".", run+".") {
				logs = logs.Plus(amount)
			}
		}
		s := loaded(t, j, run)
		cost, _ := s.Cost()
		if has := budget.Of(s.Usage().Total(), cost); has != logs {
			t.Errorf("run %s has used %+v, and the logs say %+v", run, has, logs)
		}
	}
}

// played is how the runs of a play have ended.
type played struct {
	operations int
	where      string
	runs       map[string]pawl.Status
	paid       []string
}

func play(t *testing.T, agent func(*stage) pawl.Agent, at int, way string, stop func(*engine.Engine, *memory.Journal, func()) error) (end played) {
	t.Helper()
	breaks := way == "the journal fails" || strings.HasPrefix(way, "its ") && way != "its context ends"
	s := &stage{j: &counted{Journal: memory.New(), at: at}}
	e := engine.New(s.j, &engine.Options{MaxRuns: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.j.do = func() error { return stop(e, s.j.Journal, cancel) }
	a := agent(s)
	h, err := e.Start(ctx, a, "go", &engine.StartOptions{ID: "r"})
	var res pawl.Result
	if err == nil {
		res, err = wait(t, h)
	}
	if err != nil && res.Run != "" && !breaks {
		t.Errorf("it breaks with %v", err)
	}
	must(t, e.Close())
	s.j.mu.Lock()
	end.operations, end.where, s.j.at = s.j.n, s.j.what, 0
	s.j.mu.Unlock()
	again := engine.New(s.j, &engine.Options{MaxRuns: 1})
	for head := range s.j.List(t.Context(), pawl.Query{}) {
		if way == "its owner dies, and it is cancelled" && head.Seq > 0 && head.Parent == "" && !head.Status.Ended() {
			must(t, again.Cancel(t.Context(), head.Run, "test", "enough"))
			res, err = loaded(t, s.j, head.Run).Result(), nil
		}
	}
	for tries := 0; err != nil || !res.Status.Ended(); tries++ {
		if tries == 100 {
			t.Fatalf("stopped at %s it does not end: %v, %v", end.where, res.Verdict, err)
		}
		for _, p := range res.Pending {
			switch {
			case err != nil: // it broke before that was in the log
			case p.Kind == "approval":
				must(t, again.Approve(t.Context(), p.Run, p.Call, "test", nil))
			case p.Kind == "doubt" && breaks:
				r := engine.DidNotHappen()
				if s.paid.count("pay "+p.Run+" "+p.Call) > 0 {
					r = engine.Happened("done")
				}
				must(t, again.Resolve(t.Context(), p.Run, p.Call, "test", r))
			default:
				t.Fatalf("stopped at %s it waits for %+v", end.where, p)
			}
		}
		run := "r"
		if res.Run != "" {
			run = res.Run
		}
		if h, err = again.Resume(t.Context(), a, run, nil); err != nil && strings.Contains(err.Error(), "has succeeded") {
			for head := range s.j.List(t.Context(), pawl.Query{Max: 1}) { // the leg that it has handed over to
				res, err = loaded(t, s.j, head.Run).Result(), nil
			}
			continue
		}
		if s, unknown := engine.Load(t.Context(), s.j, "r"); err != nil && (errors.Is(unknown, pawl.ErrUnknownRun) || s.Seq() == 0) {
			h, err = again.Start(t.Context(), a, "go", &engine.StartOptions{ID: "r"})
		}
		if err == nil {
			res, err = wait(t, h)
		}
		if err != nil { // the first engine may not have released a claim yet
			time.Sleep(time.Millisecond)
		}
	}
	end.runs = map[string]pawl.Status{}
	for head := range s.j.List(t.Context(), pawl.Query{}) {
		if head.Seq > 0 {
			end.runs[head.Run] = head.Status
		}
	}
	for run, status := range maps.All(end.runs) {
		if !status.Ended() || status == pawl.StatusFailed {
			t.Errorf("%s is %v: %s", run, status, loaded(t, s.j, run).Verdict().Detail)
		}
	}
	sound(t, again, s.j, a, "r")
	accounts(t, s.j, slices.Collect(maps.Keys(end.runs)))
	end.paid = slices.Sorted(slices.Values(s.paid.lines))
	if len(slices.Compact(slices.Clone(end.paid))) < len(end.paid) {
		t.Errorf("paid twice: %s", fmt.Sprint(end.paid))
	}
	return end
}
