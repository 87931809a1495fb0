package explain

import (
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// Ceilings are a run's limits, and how much of each it has used.
type Ceilings struct {
	Iterations Ceiling `json:"iterations"`
	Tokens     Ceiling `json:"tokens"`
	Time       Ceiling `json:"time"` // seconds while running
	Cost       Ceiling `json:"cost"` // dollars
	ToolErrors Ceiling `json:"tool_errors"`
}

// A Ceiling is one limit. Limit is nil if there is none. Refused reports that
// the limit refused the run's next step.
type Ceiling struct {
	Used    pawl.Decimal  `json:"used"`
	Limit   *pawl.Decimal `json:"limit"`
	Unit    string        `json:"unit"`
	Refused bool          `json:"refused"`
}

// A count is how much a run has used of something, and its limit; zero: there is none.
type count struct{ used, limit float64 }

// counts returns what a leaf of a condition may count, by its name.
func counts(s *pawl.State) map[string]count {
	l := s.Limits()
	dollars, _ := s.Cost()
	return map[string]count{
		"iterations":  {float64(s.Head().Iterations), float64(l.Iterations)},
		"tokens":      {float64(s.Tokens()), float64(l.Tokens)},
		"elapsed":     {s.Elapsed().Seconds(), l.Time.Seconds()},
		"cost":        {dollars, l.Cost},
		"tool_errors": {float64(s.ToolErrors()), float64(l.ToolErrors)},
		"tool_calls":  {float64(s.ToolCalls()), 0},
		"rounds":      {0, float64(l.Rounds)},
	}
}

func ceilings(s *pawl.State) Ceilings {
	refused, all := refusal(s), counts(s)
	of := func(kind, unit string) Ceiling {
		n := all[kind]
		c := Ceiling{Used: pawl.Decimal(n.used), Unit: unit, Refused: refused == kind}
		if n.limit > 0 {
			c.Limit = new(pawl.Decimal(n.limit))
		}
		return c
	}
	return Ceilings{of("iterations", "iterations"), of("tokens", "tokens"), of("elapsed", "s"), of("cost", "USD"), of("tool_errors", "turns")}
}

// refusal returns the limit that ended the run, by the name of its leaf; empty:
// none did. Tokens and dollars refuse a request before they are used up.
func refusal(s *pawl.State) string {
	v := s.Verdict()
	kind, text, _ := strings.Cut(v.Leaf, " >= ")
	n := counts(s)[kind]
	bound, ok := number(text)
	early := kind == "tokens" || kind == "cost" || kind == "rounds"
	if v.Status != pawl.StatusExhausted && v.Status != pawl.StatusNoProgress || !ok || n.limit == 0 ||
		pawl.Decimal(bound).String() != pawl.Decimal(n.limit).String() || !early && n.used < n.limit {
		return ""
	}
	return kind
}

// number reads the bound of a leaf: a number, or a duration as seconds.
func number(text string) (float64, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}

// A Part is the cost of some model calls. CostUSD is nil when the model has no
// price. Lost and failed attempts count with the amount booked for them.
type Part struct {
	ModelCalls   int           `json:"model_calls"`
	Failed       int           `json:"failed"`
	InputTokens  int           `json:"input_tokens"`
	OutputTokens int           `json:"output_tokens"`
	CostUSD      *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

func (p Part) plus(o Part) Part {
	return Part{p.ModelCalls + o.ModelCalls, p.Failed + o.Failed, p.InputTokens + o.InputTokens, p.OutputTokens + o.OutputTokens, nil, p.dollars + o.dollars}
}

// Spending is what a run's tokens and dollars went to beside [Report].Cost.
type Spending struct {
	Reasoning  Share           `json:"reasoning"` // part of the output
	Failed     Share           `json:"failed"`    // booked for attempts without a reply
	Cache      Cache           `json:"cache"`
	Compaction Compaction      `json:"compaction"`
	Models     map[string]Part `json:"models"`
	TurnInput  TurnInput       `json:"turn_input"`
}

// A Share is a part of a run's tokens. CostUSD is nil when the run has no
// price.
type Share struct {
	Tokens  int           `json:"tokens"`
	CostUSD *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

// Cache is how much input was read from and written to a provider's cache.
type Cache struct {
	HitRate  *float64      `json:"hit_rate"` // of all input of replies, 0 to 1; nil: no provider reported cache use
	Read     int           `json:"read_tokens"`
	Written  int           `json:"write_tokens"`
	SavedUSD *pawl.Decimal `json:"saved_usd"` // compared with no cache; negative if writing cost more

	saved float64
}

// Compaction is how often the conversation was shortened, what writing the
// summaries cost, and what the turns after it saved: the tokens by which the
// first of them was smaller than the turn before, in each of them.
type Compaction struct {
	Times   int   `json:"times"`
	Masked  int   `json:"masked"` // results left out
	Summary Share `json:"summary"`
	Saved   Share `json:"saved"` // input, at the price of the requests
}

// TurnInput is the input tokens of the first and the last turn, and the most of
// any turn.
type TurnInput struct {
	First int `json:"first"`
	Last  int `json:"last"`
	Most  int `json:"most"`
}

func (s *Share) add(tokens int, dollars float64) {
	s.Tokens += tokens
	s.dollars += dollars
}

// spending is the Spending of a run that is being read.
type spending struct {
	Spending
	input     int  // tokens of all replies
	shortened bool // the conversation, since the latest turn
	gone      int  // tokens that compactions took out of a turn
}

// usedBy is what a run has used.
func usedBy(s *pawl.State) Part {
	cost, _ := s.Cost()
	u := s.Usage()
	return Part{ModelCalls: s.ModelCalls(), InputTokens: u.Input, OutputTokens: u.Output, dollars: cost}
}

// book adds what an entry used to its part: the difference to the state's totals
// before it, so that the parts always add up.
func (f *fold) book(e pawl.Entry, was Part) {
	var call pawl.ModelCalled
	if f.flight != nil {
		call, _ = f.flight.Event.(pawl.ModelCalled)
	}
	now := usedBy(f.state)
	d := Part{ModelCalls: now.ModelCalls - was.ModelCalls, InputTokens: now.InputTokens - was.InputTokens, OutputTokens: now.OutputTokens - was.OutputTokens, dollars: now.dollars - was.dollars}
	purpose := call.Purpose
	switch event := e.Event.(type) {
	case pawl.ModelCalled:
		f.flight = &e
	case pawl.ModelReplied:
		purpose = event.Purpose
		f.replyOf(&event, &call, d)
	case pawl.ModelFailed:
		purpose, d.Failed = event.Purpose, 1
		f.fail(e, event)
	case pawl.ContextCompacted:
		f.shortened = true
		f.Compaction.Times++
		f.Compaction.Masked += len(event.Masked)
	case pawl.RunResumed:
		if f.flight != nil {
			d.Failed = 1
		}
	case pawl.ChildStopped:
		f.Cost["children"] = f.Cost["children"].plus(d)
	}
	switch e.Event.(type) {
	case pawl.ModelReplied, pawl.ModelFailed, pawl.RunResumed:
		if f.flight = nil; purpose == "" {
			break
		}
		model := f.model(&f.decl, &call).Name
		f.Cost[string(purpose)], f.Models[model] = f.Cost[string(purpose)].plus(d), f.Models[model].plus(d)
		if d.Failed > 0 {
			f.spending.Failed.add(d.InputTokens+d.OutputTokens, d.dollars)
		}
	}
}

func (f *fold) fail(e pawl.Entry, ev pawl.ModelFailed) {
	failure := Failure{Seq: e.Seq, Iteration: e.Iteration, Purpose: ev.Purpose, Attempt: ev.Attempt, Class: ev.Class.String(), Message: oneLine(ev.Message)}
	if !ev.RetryAt.IsZero() {
		failure.RetryAt = &ev.RetryAt
	}
	f.Failures = append(f.Failures, failure)
}

// model returns the model of a call.
func (*spending) model(d *pawl.Declaration, c *pawl.ModelCalled) *pawl.ModelInfo {
	for i := range d.Auxiliary {
		if c.Model != "" && d.Auxiliary[i].Name == c.Model {
			return &d.Auxiliary[i]
		}
	}
	if c.Fallback > 0 && c.Fallback <= len(d.Fallback) {
		return &d.Fallback[c.Fallback-1]
	}
	return &d.ModelInfo
}

// replyOf adds what a reply used.
func (f *fold) replyOf(e *pawl.ModelReplied, c *pawl.ModelCalled, d Part) {
	p, u := &f.spending, e.Reply.Usage
	var price pawl.Price
	if info := p.model(&f.decl, c); info.Price != nil && e.Priced {
		price = *info.Price
	}
	out := min(d.dollars, price.Cost(pawl.Usage{Input: u.Input, Output: u.Output})-price.Cost(pawl.Usage{Input: u.Input}))
	p.Reasoning.add(u.Reasoning, out*float64(u.Reasoning)/float64(max(1, u.Output)))
	p.input += u.Input
	p.Cache.Read += u.CacheRead
	p.Cache.Written += u.CacheWrite
	cached := pawl.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	p.Cache.saved += price.Cost(pawl.Usage{Input: u.Input}) - price.Cost(cached)
	switch e.Purpose {
	case pawl.PurposeSummary:
		p.Compaction.Summary.add(d.InputTokens+d.OutputTokens, d.dollars)
	case pawl.PurposeTurn:
		t := &p.TurnInput
		if p.shortened {
			p.shortened, p.gone = false, p.gone+max(0, t.Last-u.Input)
		}
		longer := cached
		longer.Input += p.gone
		if price.CacheRead > 0 && u.CacheRead > 0 { // it would have been read from the cache
			longer.CacheRead += p.gone
		}
		p.Compaction.Saved.add(p.gone, price.Cost(longer)-price.Cost(cached))
		if t.Most == 0 {
			t.First = u.Input
		}
		t.Last, t.Most = u.Input, max(t.Most, u.Input)
	}
}

// priced fills in the dollars, which are shown only when all of them are known.
func (f *fold) priced() {
	s := &f.Report.Spending
	for _, list := range []map[string]Part{f.Cost, s.Models} {
		for name, p := range list {
			p.CostUSD = decimal(p.dollars)
			list[name] = p
		}
	}
	for _, share := range []*Share{&s.Reasoning, &s.Failed, &s.Compaction.Summary, &s.Compaction.Saved} {
		share.CostUSD = decimal(share.dollars)
	}
	s.Cache.SavedUSD = decimal(s.Cache.saved)
}

// decimal rounds a sum of dollars to remove the error of binary addition.
func decimal(dollars float64) *pawl.Decimal { return new(pawl.Decimal(meter.Dollars(dollars))) }
