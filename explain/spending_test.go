package explain_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	return pawl.Declaration{Prompt: strings.Repeat("p", 4000), Model: pawl.ModelInfo{Name: "some/model", Price: &dear}}
}

var roughly = cmp.Options{cmpopts.IgnoreUnexported(explain.Share{}, explain.Cache{}, explain.TurnSpending{}), cmpopts.EquateApprox(0, 1e-9)}

// TestCache: what was sent before and billed again is told apart by why.
func TestCache(t *testing.T) {
	w := write(declaration(), "go")
	w.think(0, pawl.Usage{Input: 5000, CacheWrite: 5000, Output: 100}, `{"a":1}`, strings.Repeat("r", 3998))
	w.think(10*time.Second, pawl.Usage{Input: 6100, CacheRead: 5000, CacheWrite: 1100, Output: 100}, `{"a":2}`, "x")
	w.think(10*time.Second, pawl.Usage{Input: 7000, CacheWrite: 7000, Output: 100}, `{"a":3}`, "x") // a miss for nothing
	w.think(10*time.Minute, pawl.Usage{Input: 7500, CacheRead: 100, CacheWrite: 7400, Output: 100}, `{"a":4}`, "x")
	w.add(pawl.ContextCompacted{Masked: []string{"c_1"}})
	w.think(10*time.Second, pawl.Usage{Input: 6500, CacheRead: 4000, Output: 100}, `{"a": 1}`, strings.Repeat("r", 3998))
	w.think(10*time.Second, pawl.Usage{Input: 7600, CacheRead: 6500, CacheWrite: 1000, Output: 100}, "", "")
	r := w.report(t)
	rate := float64(5000+100+4000+6500) / float64(5000+6100+7000+7500+6500+7600)
	cost := func(x float64) *pawl.Decimal { return new(pawl.Decimal(x)) }
	want := explain.Cache{
		HitRate: &rate, Read: 15_600, Written: 21_500, New: 5000 + 1100 + 900 + 500 + 0 + 1100, Expired: 6900, Compacted: 2500,
		Found:     explain.Share{CostUSD: cost(0)},
		Avoidable: explain.Share{Tokens: 6100, CostUSD: cost(6100 * (3.75 - 0.3) / 1e6)},
		SavedUSD:  cost((15_600*(3-0.3) - 21_500*0.75) / 1e6),
	}
	if d := cmp.Diff(want, r.Spending.Cache, roughly); d != "" {
		t.Errorf("cache (-want +got):\n%s", d)
	}
	k := r.Spending.Compaction
	if k.Times != 1 || k.Masked != 1 || k.Rereads != 1 || k.Requests != 2 || k.Rewrite.Tokens != 2500 {
		t.Errorf("compaction %+v", k)
	}
	if want := 2500 * (3 - 0.3) / 1e6; math.Abs(float64(*k.Rewrite.CostUSD)-want) > 1e-9 {
		t.Errorf("what was billed again cost %v, want %v", *k.Rewrite.CostUSD, want)
	}
	// 3,900 bytes are gone; a token has about 0.7 of a byte in this log.
	if k.Saved.Tokens < 5000 || *k.NetUSD >= *k.Saved.CostUSD || math.Abs(float64(*k.NetUSD-(*k.Saved.CostUSD-*k.CostUSD))) > 1e-9 {
		t.Errorf("compaction saved %+v, net %v of cost %v", k.Saved, *k.NetUSD, *k.CostUSD)
	}
	for _, want := range []string{"39 % of the input was read from the cache", "avoidable misses: 6,100 tokens", "shortened 1 time (1 result left out)", "1 result had to be read again", "| pinned: prompt, tools and schema |", "| results of tools |"} {
		if !strings.Contains(r.Markdown(), want) {
			t.Errorf("the report does not say %q:\n%s", want, r.Markdown())
		}
	}
}

// TestParts: input is laid upon what it consisted of when it was sent.
func TestParts(t *testing.T) {
	w := write(declaration(), strings.Repeat("i", 1000))
	w.think(0, pawl.Usage{Input: 1250, Output: 10}, `{"a":1}`, strings.Repeat("r", 4998))
	w.think(0, pawl.Usage{Input: 2500, Output: 10, Reasoning: 4}, "", "")
	tokens := w.report(t).Spending.Tokens
	// First 4,000 bytes pinned of 5,000; then of 10,016, with 5,000 of results.
	for part, want := range map[string][2]int{"pinned": {1990, 2005}, "verbatim": {495, 510}, "results": {1240, 1255}, "output": {20, 20}, "summaries": {0, 0}} {
		for name, share := range tokens.Parts {
			if name == part && (share.Tokens < want[0] || share.Tokens > want[1]) {
				t.Errorf("%d tokens are %s, want %v", share.Tokens, part, want)
			}
		}
	}
	if tokens.Reasoning.Tokens != 4 || math.Abs(float64(*tokens.Reasoning.CostUSD)-60e-6) > 1e-9 {
		t.Errorf("reasoning %+v", tokens.Reasoning)
	}
}

// TestSummaryKeeps: the latest replies stay verbatim beside a summary.
func TestSummaryKeeps(t *testing.T) {
	w := write(declaration(), "go")
	w.think(0, pawl.Usage{Input: 1000, Output: 10}, `{"a":1}`, strings.Repeat("r", 7998))
	w.think(0, pawl.Usage{Input: 3000, Output: 10}, `{"a":2}`, strings.Repeat("r", 3998))
	w.add(pawl.ContextCompacted{From: 1, To: 7, Summary: strings.Repeat("s", 2000), Kept: 1})
	before := w.report(t).Spending.Tokens.Results.Tokens
	w.think(0, pawl.Usage{Input: 2500, Output: 10}, "", "")
	s := w.report(t).Spending
	if n := s.Tokens.Results.Tokens - before; n < 950 || n > 1010 {
		t.Errorf("%d of 2,500 tokens are results, with 4,000 bytes of 10,000", n)
	}
	if n := s.Tokens.Summaries.Tokens; n < 490 || n > 530 {
		t.Errorf("%d of 2,500 tokens are summaries, with 2,000 bytes of 10,000", n)
	}
}

// TestSummaries: once it stands for what was said, a summary has its share, and
// what it stands for has none.
func TestSummaries(t *testing.T) {
	w := write(declaration(), "go")
	w.think(0, pawl.Usage{Input: 1000, Output: 10}, `{"a":1}`, strings.Repeat("r", 8000))
	u := pawl.Usage{Input: 3000, Output: 500}
	w.add(pawl.ModelCalled{Purpose: pawl.PurposeSummary, Attempt: 1, Reserved: 4000, MaxTokens: 500},
		pawl.ModelReplied{Purpose: pawl.PurposeSummary, Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "s"}}, Stop: pawl.StopEnd, Usage: u}, Priced: true, Cost: dear.Cost(u)},
		pawl.ContextCompacted{From: 1, To: 7, Summary: strings.Repeat("s", 2000)})
	w.think(0, pawl.Usage{Input: 1500, Output: 10}, "", "")
	s := w.report(t).Spending
	if n := s.Tokens.Summaries.Tokens; n < 480 || n > 540 {
		t.Errorf("%d of 1,500 tokens are summaries, with 2,000 bytes of 6,000", n)
	}
	if s.Compaction.Summary.Tokens != 3500 || math.Abs(float64(*s.Compaction.Summary.CostUSD)-dear.Cost(u)) > 1e-9 {
		t.Errorf("writing the summary: %+v", s.Compaction.Summary)
	}
	if n := s.Compaction.Saved.Tokens; n < 1300 || n > 1600 {
		t.Errorf("%d tokens are saved, of about 6,000 bytes at 4", n)
	}
}
