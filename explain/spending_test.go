package explain_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

// written is a log that is written by hand.
type written struct {
	log   []pawl.Entry
	now   time.Time
	turn  int
	calls int
}

var dear = pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}

func write(d pawl.Declaration, input string) *written {
	w := &written{now: time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)}
	d.Agent, d.Loop = "hand", "react"
	w.add(pawl.RunStarted{Declaration: d, Input: input})
	return w
}

func (w *written) add(events ...pawl.Event) {
	for _, e := range events {
		n := uint64(len(w.log))
		w.log = append(w.log, pawl.Entry{Run: "01HAND", Seq: n + 1, At: n, Time: w.now, Iteration: w.turn, Event: e})
	}
}

// think is a turn that calls look with the given arguments; empty: it is the last.
func (w *written) think(wait time.Duration, u pawl.Usage, args, result string) {
	w.now = w.now.Add(wait)
	w.turn++
	w.add(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1, Reserved: 1000, MaxTokens: 500})
	w.now = w.now.Add(time.Second)
	reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Well."}}, Stop: pawl.StopEnd, Usage: u}
	if args != "" {
		w.calls++
		reply.Stop = pawl.StopCalls
		reply.Parts = append(reply.Parts, pawl.Call{ID: fmt.Sprint("c_", w.calls), Tool: "look", Args: []byte(args)})
	}
	w.add(pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: reply, Priced: true, Cost: dear.Cost(u)})
	if args != "" {
		id := fmt.Sprint("c_", w.calls)
		w.add(pawl.ToolStarted{Call: id, Tool: "look", Args: []byte(args), Effect: pawl.Read, Attempt: 1},
			pawl.ToolFinished{Call: id, Tool: "look", Status: pawl.ToolOK, Result: []byte(`"` + result + `"`)})
	}
}

func (w *written) report(t *testing.T) explain.Report {
	t.Helper()
	r, err := explain.Of(sequence(w.log), nil)
	must(t, err)
	return r
}

func declaration() pawl.Declaration {
	return pawl.Declaration{Prompt: strings.Repeat("p", 4000), ModelInfo: pawl.ModelInfo{Name: "some/model", Price: &dear}}
}

// TestCache: what was read from the cache, and what masking saves.
func TestCache(t *testing.T) { // Promises: B5.
	w := write(declaration(), "go")
	w.think(0, pawl.Usage{Input: 5000, CacheWrite: 5000, Output: 100}, `{"a":1}`, strings.Repeat("r", 3998))
	w.think(10*time.Second, pawl.Usage{Input: 6100, CacheRead: 5000, CacheWrite: 1100, Output: 100}, `{"a":2}`, "x")
	w.add(pawl.ContextCompacted{Masked: []string{"c_1"}})
	w.think(10*time.Second, pawl.Usage{Input: 5200, CacheRead: 4000, Output: 100}, "", "")
	r := w.report(t)
	k := r.Spending.Cache
	if rate, saved := 9000.0/16_300, (9000*(3-0.3)-6100*0.75)/1e6; math.Abs(*k.HitRate-rate) > 1e-9 || k.Read != 9000 || k.Written != 6100 || math.Abs(float64(*k.SavedUSD)-saved) > 1e-9 {
		t.Errorf("cache %+v, want %g read, which saved %g", k, rate, saved)
	}
	if c := r.Spending.Compaction; c.Times != 1 || c.Masked != 1 || c.Saved.Tokens != 900 || math.Abs(float64(*c.Saved.CostUSD)-0.3e-6*float64(c.Saved.Tokens)) > 1e-9 {
		t.Errorf("compaction %+v", c)
	}
	for _, want := range []string{"55 % of the input was read from the cache", "shortened 1 time (1 result left out)", "went from 5,000 tokens to 5,200, at most 6,100"} {
		if !strings.Contains(r.Markdown(), want) {
			t.Errorf("the report does not say %q:\n%s", want, r.Markdown())
		}
	}
}

// TestSummaries: what the model spent on thinking and on summaries, and what a summary saves.
func TestSummaries(t *testing.T) {
	w := write(declaration(), "go")
	w.think(0, pawl.Usage{Input: 3000, Output: 10, Reasoning: 4}, `{"a":1}`, strings.Repeat("r", 8000))
	u := pawl.Usage{Input: 3000, Output: 500}
	w.add(pawl.ModelCalled{Purpose: pawl.PurposeSummary, Attempt: 1, Reserved: 4000, MaxTokens: 500},
		pawl.ModelReplied{Purpose: pawl.PurposeSummary, Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "s"}}, Stop: pawl.StopEnd, Usage: u}, Priced: true, Cost: dear.Cost(u)},
		pawl.ContextCompacted{From: 1, To: 7, Summary: strings.Repeat("s", 2000)})
	w.think(0, pawl.Usage{Input: 1500, Output: 10}, `{"a":2}`, "x")
	w.think(0, pawl.Usage{Input: 1600, Output: 10}, "", "")
	s := w.report(t).Spending
	if r := s.Reasoning; r.Tokens != 4 || math.Abs(float64(*r.CostUSD)-60e-6) > 1e-9 {
		t.Errorf("reasoning %+v", r)
	}
	if s.Compaction.Summary.Tokens != 3500 || math.Abs(float64(*s.Compaction.Summary.CostUSD)-dear.Cost(u)) > 1e-9 {
		t.Errorf("writing the summary: %+v", s.Compaction.Summary)
	}
	if n := s.Compaction.Saved.Tokens; n != 3000 {
		t.Errorf("%d tokens are saved, want 1,500 in each of two turns", n)
	}
}
