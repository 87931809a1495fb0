package explain

import (
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// Spending breaks down a run's tokens and dollars. The shares of Tokens add up
// to the total. The cost of a request's input is divided among its parts by
// length.
type Spending struct {
	Tokens     Tokens         `json:"tokens"`
	Cache      Cache          `json:"cache"`
	Compaction Compaction     `json:"compaction"`
	Models     []ModelShare   `json:"models"` // in the order of their first call
	Turns      []TurnSpending `json:"turns"`  // one per reply to a turn, in order
}

// Tokens are a run's tokens by kind.
type Tokens struct {
	Pinned    Share `json:"pinned"`    // prompt, tools and output schema, sent with every request
	Summaries Share `json:"summaries"` // replace parts that the model no longer sees
	Verbatim  Share `json:"verbatim"`  // text of people, the model and the run itself
	Results   Share `json:"results"`   // of tools and observations
	Hosted    Share `json:"hosted"`    // the price of each use of a hosted tool; its tokens are among the others
	Asides    Share `json:"asides"`    // requests of judges and summaries, outside the conversation
	Output    Share `json:"output"`    // of every model
	Reasoning Share `json:"reasoning"` // part of Output, not added again
	Failed    Share `json:"failed"`    // attempts without a reply, input and output
	Children  Share `json:"children"`  // child runs, input and output
}

// A Share is a part of a run's tokens. CostUSD is nil when the run has no
// price.
type Share struct {
	Tokens  int           `json:"tokens"`
	CostUSD *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

// Cache breaks down input by caching. A hit was read from a cache. The rest is
// new, or was sent before and billed again: because it had expired, because a
// compaction removed text before it, because tools were found, which stand before
// all else, because another model or view was asked, or, avoidably, for none of
// these reasons.
type Cache struct {
	HitRate   *float64      `json:"hit_rate"` // of all input of replies, 0 to 1; nil: no provider reported cache use
	Read      int           `json:"read_tokens"`
	Written   int           `json:"write_tokens"`
	New       int           `json:"new_tokens"`
	Expired   int           `json:"expired_tokens"`
	Compacted int           `json:"compacted_tokens"`
	Switched  int           `json:"switched_tokens"`
	Found     Share         `json:"tools_found"`
	Avoidable Share         `json:"avoidable"`
	SavedUSD  *pawl.Decimal `json:"saved_usd"` // compared with no cache; negative if writing cost more

	saved float64
}

// Compaction is what compacting the conversation cost, and what it saved.
type Compaction struct {
	Times    int           `json:"times"`
	Masked   int           `json:"masked"`  // masked results
	Summary  Share         `json:"summary"` // the calls that wrote summaries
	Rewrite  Share         `json:"rewrite"` // input billed again because text before it was removed
	Reread   Share         `json:"reread"`  // results of calls repeated because of masking
	Rereads  int           `json:"rereads"`
	Saved    Share         `json:"saved"` // input that later requests saved, at its price
	CostUSD  *pawl.Decimal `json:"cost_usd"`
	NetUSD   *pawl.Decimal `json:"net_usd"` // saved, minus the cost
	Requests int           `json:"requests"`
}

// A ModelShare is the use of one model.
type ModelShare struct {
	Model           string `json:"model"`
	Calls           int    `json:"calls"`
	Failed          int    `json:"failed"`
	InputTokens     int    `json:"input_tokens"`
	CacheReadTokens int    `json:"cache_read_tokens"`
	OutputTokens    int    `json:"output_tokens"`
	ReasoningTokens int    `json:"reasoning_tokens"`
	Share
}

// TurnSpending is one reply to a turn.
type TurnSpending struct {
	Iteration       int           `json:"iteration"`
	InputTokens     int           `json:"input_tokens"`
	CacheReadTokens int           `json:"cache_read_tokens"`
	OutputTokens    int           `json:"output_tokens"`
	CostUSD         *pawl.Decimal `json:"cost_usd"`

	dollars float64
	shorter bool // the conversation was compacted before the reply
}

func (s *Share) add(tokens int, dollars float64) {
	s.Tokens += tokens
	s.dollars += dollars
}

// spender adds the cost of each model call to its share.
type spender struct {
	Spending
	ledger
	decl    pawl.Declaration
	models  map[string]int // index in Models
	warm    map[string]warmth
	talked  bool
	cached  bool // a provider reported cache use
	input   int  // tokens of all replies
	gone    int  // bytes that compactions removed and that were not added again
	serving int  // which fallback replied to the latest turn; zero: the agent's model
	fresh   bool // the conversation was compacted and not sent since
	found   int  // deferred tools that the latest request shows
}

func newSpender() spender {
	return spender{
		ledger: ledger{calls: map[string]*result{}, masked: map[string]bool{}, again: map[string]bool{}},
		models: map[string]int{}, warm: map[string]warmth{},
	}
}

// warmth is what a cache may hold of a conversation.
type warmth struct {
	tokens int
	until  time.Time // the cache keeps it
	cuts   int       // compactions before the request
	found  int       // deferred tools in it
}

// add records an entry, before the fold books its part.
func (p *spender) add(e *pawl.Entry, after *pawl.State, called *pawl.ModelCalled, sent time.Time) {
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		p.decl = ev.Declaration
		p.declare(&p.decl)
	case pawl.RunResumed:
		if ev.Changed != nil {
			p.decl = *ev.Changed
			p.declare(&p.decl)
			p.found = 0
		}
	case pawl.ModelCalled:
		for _, name := range after.Found()[p.found:] {
			p.find(&p.decl, name)
			p.found++
		}
	case pawl.ModelReplied:
		if called != nil {
			p.bill(&ev, called, e.Iteration, sent, e.Time)
		}
	case pawl.ContextCompacted:
		p.Compaction.Times++
		p.Compaction.Masked += len(ev.Masked)
		p.gone += p.compact(&ev)
		p.fresh = true
		return
	}
	p.listen(e, after)
}

// model returns the model of a call.
func (p *spender) model(c *pawl.ModelCalled) *pawl.ModelInfo {
	for i := range p.decl.Auxiliary {
		if c.Model != "" && p.decl.Auxiliary[i].Name == c.Model {
			return &p.decl.Auxiliary[i]
		}
	}
	if c.Fallback > 0 && c.Fallback <= len(p.decl.Fallback) {
		return &p.decl.Fallback[c.Fallback-1]
	}
	return &p.decl.Model
}

func (p *spender) share(c *pawl.ModelCalled) *ModelShare {
	model := p.model(c).Name
	i, ok := p.models[model]
	if !ok {
		i = len(p.Models)
		p.models[model] = i
		p.Models = append(p.Models, ModelShare{Model: model})
	}
	return &p.Models[i]
}

// bill divides a reply's tokens and dollars among the shares.
func (p *spender) bill(e *pawl.ModelReplied, c *pawl.ModelCalled, iteration int, sent, replied time.Time) {
	u := e.Reply.Usage
	var price pawl.Price
	if info := p.model(c); info.Price != nil && e.Priced {
		price = *info.Price
	}
	out := min(e.Cost, price.Cost(pawl.Usage{Input: u.Input, Output: u.Output})-price.Cost(pawl.Usage{Input: u.Input}))
	fees := min(e.Cost-out, price.Cost(pawl.Usage{Searches: u.Searches, Sessions: u.Sessions}))
	in := e.Cost - out - fees
	p.Tokens.Hosted.add(0, fees)
	p.Tokens.Output.add(u.Output, out)
	if u.Output > 0 {
		p.Tokens.Reasoning.add(u.Reasoning, out*float64(u.Reasoning)/float64(u.Output))
	}
	m := p.share(c)
	m.Calls++
	m.InputTokens += u.Input
	m.OutputTokens += u.Output
	m.CacheReadTokens += u.CacheRead
	m.ReasoningTokens += u.Reasoning
	m.add(u.Input+u.Output, e.Cost)
	p.spread(u.Input, in, c)
	if c.Purpose == pawl.PurposeSummary {
		p.Compaction.Summary.add(u.Input+u.Output, e.Cost)
	}
	if !e.Estimated {
		p.caching(u, price, c, sent, replied)
	}
	p.saving(u, price, c)
	if c.Purpose == pawl.PurposeTurn {
		p.Turns = append(p.Turns, TurnSpending{Iteration: iteration, InputTokens: u.Input, CacheReadTokens: u.CacheRead, OutputTokens: u.Output, dollars: e.Cost, shorter: p.fresh})
		p.fresh, p.serving = false, c.Fallback
	}
}

// toolless reports whether a request lacks the tools. The calls of a conversation need them even
// where the reply may call none, unless they stand in the system prompt.
func (p *spender) toolless(c *pawl.ModelCalled) bool {
	return c.View.Bare && (c.View.Alone || c.View.Step != "" || p.decl.Strategy == pawl.StrategyJSON)
}

// spread divides input among the parts of the request by bytes. The largest
// part gets the rounding remainder.
func (p *spender) spread(input int, dollars float64, c *pawl.ModelCalled) {
	if c.View.Alone {
		p.Tokens.Asides.add(input, dollars)
		return
	}
	pinned := p.pinned
	if p.toolless(c) {
		pinned = len(p.decl.Prompt)
	}
	aside := len(c.View.System)
	if c.Purpose != pawl.PurposeTurn {
		aside += len(c.View.Prompt)
	}
	parts := []struct {
		bytes int
		share *Share
	}{{pinned, &p.Tokens.Pinned}, {p.now.summaries, &p.Tokens.Summaries}, {p.now.verbatim, &p.Tokens.Verbatim}, {p.now.results, &p.Tokens.Results}, {aside, &p.Tokens.Asides}}
	all, most := 0, 0
	for i := range parts {
		parts[i].bytes = max(0, parts[i].bytes)
		all += parts[i].bytes
		if parts[i].bytes > parts[most].bytes {
			most = i
		}
	}
	left, rest := input, dollars
	for i := range parts {
		if i == most {
			continue
		}
		share := float64(parts[i].bytes) / float64(max(1, all))
		n := min(left, int(share*float64(input)))
		parts[i].share.add(n, share*dollars)
		left, rest = left-n, rest-share*dollars
	}
	parts[most].share.add(left, rest)
}

// fail adds a failed attempt, or children, with the amount booked for them.
func (p *spender) fail(c *pawl.ModelCalled, tokens int, dollars float64) {
	p.Tokens.Failed.add(tokens, dollars)
	if c != nil {
		m := p.share(c)
		m.Failed++
		m.add(tokens, dollars)
	}
}

// close returns the totals. Dollars are shown only when all of them are known.
func (p *spender) close(known bool) Spending {
	s := p.Spending
	s.Models, s.Turns = slices.Clone(s.Models), slices.Clone(s.Turns)
	if s.Models == nil {
		s.Models = []ModelShare{}
	}
	if s.Turns == nil {
		s.Turns = []TurnSpending{}
	}
	if p.cached && p.input > 0 {
		rate := float64(s.Cache.Read) / float64(p.input)
		s.Cache.HitRate = &rate
	}
	if !known {
		return s
	}
	t, k := &s.Tokens, &s.Compaction
	for _, share := range []*Share{&t.Pinned, &t.Summaries, &t.Verbatim, &t.Results, &t.Hosted, &t.Asides, &t.Output, &t.Reasoning, &t.Failed, &t.Children,
		&s.Cache.Found, &s.Cache.Avoidable, &k.Summary, &k.Rewrite, &k.Reread, &k.Saved} {
		share.CostUSD = decimal(share.dollars)
	}
	for i := range s.Models {
		s.Models[i].CostUSD = decimal(s.Models[i].dollars)
	}
	for i := range s.Turns {
		s.Turns[i].CostUSD = decimal(s.Turns[i].dollars)
	}
	cost := k.Summary.dollars + k.Rewrite.dollars + k.Reread.dollars
	net := k.Saved.dollars - cost
	s.Cache.SavedUSD, k.CostUSD, k.NetUSD = decimal(s.Cache.saved), decimal(cost), decimal(net)
	return s
}

// Parts yields the shares that add up to the run's tokens, with their names, in
// the order of a request.
func (t *Tokens) Parts(yield func(string, Share) bool) {
	_ = yield("pinned", t.Pinned) && yield("summaries", t.Summaries) && yield("verbatim", t.Verbatim) && yield("results", t.Results) &&
		yield("hosted", t.Hosted) && yield("asides", t.Asides) && yield("failed", t.Failed) && yield("children", t.Children) && yield("output", t.Output)
}

// decimal rounds a sum of dollars to remove the error of binary addition.
func decimal(dollars float64) *pawl.Decimal { return new(pawl.Decimal(meter.Dollars(dollars))) }
