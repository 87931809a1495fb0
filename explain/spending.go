package explain

import (
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// Spending says what a run's tokens and dollars went to. The shares of Tokens
// add up to all that the run used. What a request's input cost is laid upon its
// parts by their length.
type Spending struct {
	Tokens     Tokens         `json:"tokens"`
	Cache      Cache          `json:"cache"`
	Compaction Compaction     `json:"compaction"`
	Models     []ModelShare   `json:"models"` // in the order they were first asked
	Turns      []TurnSpending `json:"turns"`  // replies to turns, in order
}

// Tokens are a run's tokens by what they were.
type Tokens struct {
	Pinned    Share `json:"pinned"`    // prompt, tools and output schema, sent with every request
	Summaries Share `json:"summaries"` // of what the model does not see any more
	Verbatim  Share `json:"verbatim"`  // what people, the model and the run itself said
	Results   Share `json:"results"`   // of tools and observations
	Asides    Share `json:"asides"`    // what judges and summaries were asked beside the conversation
	Output    Share `json:"output"`    // of every model
	Reasoning Share `json:"reasoning"` // of the output; no share of its own
	Failed    Share `json:"failed"`    // attempts that brought no reply, in and out
	Children  Share `json:"children"`  // runs of other agents, in and out
}

// A Share is some of a run's tokens. CostUSD is nil when the run has no price.
type Share struct {
	Tokens  int           `json:"tokens"`
	CostUSD *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

// Cache is what became of input that providers can keep. A hit is input that
// was read from a cache. The rest is new, or else was sent before and billed
// again: because it had expired, because what stood before it was left out,
// because another model or view was asked, or, which is avoidable, for none of
// these reasons.
type Cache struct {
	HitRate   *float64      `json:"hit_rate"` // of all input of replies, 0 to 1; nil: no provider spoke of a cache
	Read      int           `json:"read_tokens"`
	Written   int           `json:"write_tokens"`
	New       int           `json:"new_tokens"`
	Expired   int           `json:"expired_tokens"`
	Compacted int           `json:"compacted_tokens"`
	Switched  int           `json:"switched_tokens"`
	Avoidable Share         `json:"avoidable"`
	SavedUSD  *pawl.Decimal `json:"saved_usd"` // by the cache, against none; below nothing when writing cost more

	saved float64
}

// Compaction is what shortening the conversation cost, and what it saved.
type Compaction struct {
	Times    int           `json:"times"`
	Masked   int           `json:"masked"`  // results left out
	Summary  Share         `json:"summary"` // the calls that wrote summaries
	Rewrite  Share         `json:"rewrite"` // input that was billed again, since what stood before it was left out
	Reread   Share         `json:"reread"`  // results of calls that were made again because theirs was left out
	Rereads  int           `json:"rereads"`
	Saved    Share         `json:"saved"` // input of later requests, at what it would have cost
	CostUSD  *pawl.Decimal `json:"cost_usd"`
	NetUSD   *pawl.Decimal `json:"net_usd"` // saved, without what it cost
	Requests int           `json:"requests"`
}

// A ModelShare is what one model was asked.
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
	shorter bool // the conversation was shortened before it
}

func (s *Share) add(tokens int, dollars float64) {
	s.Tokens += tokens
	s.dollars += dollars
}

// spender books what each model call cost to what it was for.
type spender struct {
	Spending
	ledger
	decl    pawl.Declaration
	models  map[string]int // place in Models
	warm    map[string]warmth
	talked  bool
	cached  bool // some provider spoke of a cache
	input   int  // tokens of all replies
	gone    int  // bytes that compactions took off the conversation, and have not come back
	serving int  // which fallback replied to the latest turn; zero: the agent's model
	fresh   bool // the conversation was shortened, and not sent since
}

// warmth is what a cache may hold of a conversation.
type warmth struct {
	tokens int
	at     time.Time
	cuts   int // compactions before it
}

// add takes an entry in, before the books of its part are written.
func (p *spender) add(e *pawl.Entry, after *pawl.State, called *pawl.ModelCalled, sent time.Time) {
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		p.decl = ev.Declaration
		p.declare(&p.decl)
	case pawl.RunResumed:
		if ev.Changed != nil {
			p.decl = *ev.Changed
			p.declare(&p.decl)
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

// model is what a call asked.
func (p *spender) model(c *pawl.ModelCalled) *pawl.ModelInfo {
	for i := range p.decl.Advisers {
		if c.Model != "" && p.decl.Advisers[i].Name == c.Model {
			return &p.decl.Advisers[i]
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
		if p.models == nil {
			p.models = map[string]int{}
		}
		i = len(p.Models)
		p.models[model] = i
		p.Models = append(p.Models, ModelShare{Model: model})
	}
	return &p.Models[i]
}

// price is that of the model that was asked last for a turn.
func (p *spender) price() *pawl.Price { return p.model(&pawl.ModelCalled{Fallback: p.serving}).Price }

// bill lays a reply's tokens and dollars upon what they were.
func (p *spender) bill(e *pawl.ModelReplied, c *pawl.ModelCalled, iteration int, sent, replied time.Time) {
	u := e.Reply.Usage
	var price pawl.Price
	if info := p.model(c); info.Price != nil && e.Priced {
		price = *info.Price
	}
	out := min(e.Cost, price.Cost(pawl.Usage{Input: u.Input, Output: u.Output})-price.Cost(pawl.Usage{Input: u.Input}))
	in := e.Cost - out
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

// spread lays input upon the parts of the request, by their bytes. What
// rounding leaves over goes to the largest.
func (p *spender) spread(input int, dollars float64, c *pawl.ModelCalled) {
	if c.View.Alone {
		p.Tokens.Asides.add(input, dollars)
		return
	}
	pinned := p.pinned
	if c.View.Bare {
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

// fail books an attempt that brought nothing, or children, at what was booked for it.
func (p *spender) fail(c *pawl.ModelCalled, tokens int, dollars float64) {
	p.Tokens.Failed.add(tokens, dollars)
	if c != nil {
		m := p.share(c)
		m.Failed++
		m.add(tokens, dollars)
	}
}

// close says what it came to. Dollars are shown only when all of them are known.
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
	for _, share := range []*Share{&t.Pinned, &t.Summaries, &t.Verbatim, &t.Results, &t.Asides, &t.Output, &t.Reasoning, &t.Failed, &t.Children,
		&s.Cache.Avoidable, &k.Summary, &k.Rewrite, &k.Reread, &k.Saved} {
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

// Parts yields the parts that the tokens of a run add up to, by name, in the
// order they stand in a request.
func (t *Tokens) Parts(yield func(string, Share) bool) {
	_ = yield("pinned", t.Pinned) && yield("summaries", t.Summaries) && yield("verbatim", t.Verbatim) && yield("results", t.Results) &&
		yield("asides", t.Asides) && yield("failed", t.Failed) && yield("children", t.Children) && yield("output", t.Output)
}

// decimal is a sum of dollars without the error of sums in binary.
func decimal(dollars float64) *pawl.Decimal { return new(pawl.Decimal(meter.Dollars(dollars))) }
