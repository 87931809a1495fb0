package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

type page struct {
	N    int `json:"n"`
	Wait int `json:"wait,omitempty"` // milliseconds
}

func read(ctx context.Context, p page) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(time.Duration(p.Wait) * time.Millisecond):
		return fmt.Sprint("page ", p.N), nil
	}
}

// fiveReads makes an agent whose model writes five calls in as many seconds. The calls take as
// long as waits says.
func fiveReads(t *testing.T, early bool, most int, waits ...int) pawl.Agent {
	t.Helper()
	doc := &script.Script{Replies: []script.Reply{{Delay: 5 * time.Second}, {Text: new("Read.")}}}
	for i, wait := range waits {
		doc.Replies[0].Calls = append(doc.Replies[0].Calls, script.Call{Tool: "read", Args: page{i, wait}})
	}
	m, err := script.New(doc)
	must(t, err)
	return pawl.Agent{Name: "reader", Model: m, EarlyReads: early, MaxParallel: most, Tools: []pawl.Tool{tool.Func("read", "Read a page.", read, pawl.Read)}}
}

// What early Reads save is the time in which the model goes on writing. docs/performance.md
// has these figures.
func TestEarlyReadsSaveTime(t *testing.T) {
	for name, c := range map[string]struct {
		most      int
		waits     []int
		late, now time.Duration
	}{
		"the first is slow": {0, []int{4000, 500, 500, 500, 500}, 9 * time.Second, 6 * time.Second},
		"one at a time":     {1, []int{900, 900, 900, 900, 900}, 9500 * time.Millisecond, 6800 * time.Millisecond},
		"the last is slow":  {0, []int{500, 500, 500, 500, 4000}, 9 * time.Second, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for early, want := range map[bool]time.Duration{false: c.late, true: c.now} {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					r, err := engine.Run(t.Context(), fiveReads(t, early, c.most, c.waits...), "Read.")
					if err != nil || r.Status != pawl.StatusSuccess || r.ToolCalls != 5 {
						t.Fatalf("%v with %d calls, %v", r.Verdict, r.ToolCalls, err)
					}
					if took := time.Since(began); took != want {
						t.Errorf("early %v: %v, want %v", early, took, want)
					}
				})
			}
		})
	}
}

// unsteady streams calls that its reply has otherwise, and calls in a first attempt that fails.
type unsteady struct{}

func (unsteady) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		call := func(n int) pawl.Call {
			return pawl.Call{Tool: "read", Args: json.RawMessage(fmt.Sprintf(`{"n": %d}`, n))}
		}
		if len(r.Messages) > 1 {
			reply := pawl.Say(r.Messages[len(r.Messages)-1].Parts[1].(pawl.ToolResult).Text())
			yield(pawl.Chunk{Reply: &reply}, nil)
			return
		}
		for n := range 3 {
			if ready := call(n); !yield(pawl.Chunk{Ready: &ready}, nil) {
				return
			}
		}
		if r.Attempt == 1 {
			yield(pawl.Chunk{}, errors.New("the connection broke"))
			return
		}
		reply := pawl.Do(call(0), call(10), pawl.Call{Tool: "note", Args: json.RawMessage(`{"n":2}`)})
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// However often its process dies, a run with early Reads ends as it would have.
func TestEarlyReadsKilled(t *testing.T) {
	build := func() pawl.Agent {
		return pawl.Agent{Name: "reader", Model: unsteady{}, EarlyReads: true, Tools: []pawl.Tool{
			tool.Func("read", "Read a page.", read, pawl.Read),
			tool.Func("note", "Note a page.", read, pawl.Write),
		}}
	}
	kinds := map[string]int{}
	for _, e := range pawltest.KillEverywhere(t, build, "Read.", nil) {
		switch ev := e.Event.(type) {
		case pawl.ToolStarted:
			kinds[fmt.Sprint("started ", ev.Early)]++
		case pawl.ToolRefused:
			kinds[fmt.Sprint("refused ", ev.Early)]++
		case pawl.RunStopped:
			kinds[ev.Status.String()]++
		}
	}
	if want := "map[refused true:5 started false:2 started true:6 success:1]"; fmt.Sprint(kinds) != want {
		t.Errorf("the log has %v, want %s", kinds, want)
	}
}

// A run that is cancelled or suspended while Reads run early lets go of them, and of what they
// occupy in the process.
func TestEarlyReadsAreLetGo(t *testing.T) {
	for _, how := range []string{"cancelled", "paused"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopped := 0
				hang := func(ctx context.Context, _ page) (string, error) {
					<-ctx.Done()
					stopped++ // while the engine waits
					return "", ctx.Err()
				}
				agent := fiveReads(t, true, 1, 0, 0, 0, 0, 0)
				agent.Tools = []pawl.Tool{tool.Func("read", "Read a page.", hang, pawl.Read)}
				journal := memory.New()
				ctx, suspend := context.WithCancel(t.Context())
				e := engine.New(journal, nil)
				run, err := e.Start(ctx, agent, "Read.", nil)
				must(t, err)
				time.Sleep(4 * time.Second) // the model has written the first call, and writes the second
				if how == "paused" {
					suspend()
				} else if err := e.Cancel(t.Context(), run.ID(), "boss", "enough"); err != nil {
					t.Fatal(err)
				}
				r, err := run.Wait(t.Context())
				if err != nil || r.Status.String() != how || stopped != 1 {
					t.Fatalf("%v, %v; %d calls were stopped", r.Status, err, stopped)
				}
				suspend()

				// All that such calls may occupy is free again: a run that needs it goes on.
				after, err := engine.Run(t.Context(), fiveReads(t, true, 1, 0, 0, 0, 0, 0), "Read.")
				if err != nil || after.Status != pawl.StatusSuccess {
					t.Errorf("%v, %v", after.Verdict, err)
				}
				replays(t, e, agent, run.ID())
			})
		})
	}
}

// Replay applies the rule again: a log in which another call, or a Write, begins early is not one
// that this build writes.
func TestEarlyReadsReplayed(t *testing.T) {
	journal := memory.New()
	agent := fiveReads(t, true, 0, 0, 0)
	agent.Tools = append(agent.Tools, tool.Func("note", "Note a page.", read, pawl.Write))
	m, err := script.New(&script.Script{Replies: []script.Reply{{Calls: []script.Call{{Tool: "read", Args: page{N: 1}}}}, {Text: new("Read.")}}})
	must(t, err)
	agent.Model = m
	run, err := engine.New(journal, nil).Start(t.Context(), agent, "Read.", nil)
	must(t, err)
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*pawl.ToolStarted){
		"":               func(*pawl.ToolStarted) {},
		"c_1 note early": func(e *pawl.ToolStarted) { e.Tool = "note" },
		"c_2 read early": func(e *pawl.ToolStarted) { e.Call = "c_2" },
		"c_1 read early": func(e *pawl.ToolStarted) { e.Key = "other" },
	} {
		var log []pawl.Entry
		for e := range entriesOf(t, journal, run.ID()) {
			if started, ok := e.Event.(pawl.ToolStarted); ok {
				change(&started)
				e.Event = started
			}
			log = append(log, e)
		}
		changed := memory.New()
		lease, err := changed.Claim(t.Context(), pawl.Claim{Run: run.ID(), Owner: "test", TTL: time.Minute, New: true})
		must(t, err)
		must(t, changed.AppendEntries(t.Context(), &pawl.Batch{Run: run.ID(), Epoch: lease.Epoch, Head: pawl.Head{Run: run.ID()}}, log))
		_, err = engine.New(changed, nil).Replay(t.Context(), agent, run.ID())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
