package explain

import (
	"cmp"
	"fmt"

	"github.com/pawl-run/pawl"
)

// An Outcome is the cost of some turns of a model. CostUSD is nil when the
// model has no price.
type Outcome struct {
	Iterations      int           `json:"iterations"`
	InputTokens     int           `json:"input_tokens"`
	CacheReadTokens int           `json:"cache_read_tokens"`
	OutputTokens    int           `json:"output_tokens"`
	Tokens          int           `json:"tokens"`
	CostUSD         *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

// course simulates a conversation: each turn sends everything before it and
// adds a reply and results.
type course struct {
	price    pawl.Price
	priced   bool
	context  int     // tokens of the next request
	cached   int     // of these, tokens in a cache
	fixed    int     // of these, tokens that no compaction removes
	reply    int     // tokens of a reply
	results  int     // tokens of results and other input per turn
	hit      float64 // the share of cacheable input that is read from the cache
	compacts bool
	found    int // tokens of tools that the first turn finds
	keep     int // turns that a compaction keeps unchanged
	window   int // the most tokens of a request; zero: no limit

	aside   pawl.Usage  // of judges per turn
	dollars float64     // of them
	most    pawl.Limits // a turn that would exceed them is not made; zero: no limit
}

// run simulates n turns and calls each with the tokens of every request.
func (c course) run(n int, each func(in, out int)) (o Outcome) {
	var old []int // tokens of maskable results, by turn
	rent, hoard, spare := 0.0, 0.0, 0
	read := c.price.CacheRead
	read = cmp.Or(read, c.price.Input)
	again := max(0, max(c.price.CacheWrite, c.price.Input)-read)
	for i := range n {
		u := pawl.Usage{Input: c.context, Output: c.reply, CacheRead: int(c.hit * float64(min(c.cached, c.context)))}
		if c.price.CacheWrite > 0 && c.hit > 0 {
			u.CacheWrite = u.Input - u.CacheRead
		}
		over := c.over(&o, u)
		if over { // the reply is clamped to what is left, and is the last
			if u.Output = c.clamp(&o, u); u.Output < leastWords {
				break
			}
		}
		cost := c.price.Cost(u)
		said := u.Output
		if !over {
			u, cost = u.Add(c.aside), cost+c.dollars
		}
		o.Iterations++
		o.InputTokens += u.Input
		o.OutputTokens += u.Output
		o.CacheReadTokens += u.CacheRead
		o.Tokens += u.Total()
		o.dollars += cost
		if each != nil {
			each(c.context, said)
		}
		if over {
			break
		}
		c.cached = c.context
		c.context += c.reply + c.results
		if i == 0 && c.found > 0 { // they stand before all else, so that no cache has the rest
			c.context, c.fixed, c.cached = c.context+c.found, c.fixed+c.found, 0
		}
		old = append(old, c.results)
		if c.window > 0 && c.context > c.window { // old results are masked, whatever it costs
			c.context = min(c.window, c.fixed+usualSummary+c.keep*(c.reply+c.results))
			c.cached = min(c.cached, c.fixed)
			clear(old)
			rent, hoard, spare = 0, 0, 0
		}
		if !c.compacts || !c.priced || len(old) <= c.keep {
			continue
		}
		// The rule of package window: old results are masked once carrying them
		// has cost as much as masking them will, which rewrites the rest of the
		// cache.
		left, recent := float64(n-i-1), c.keep*(c.reply+c.results)
		spare += max(0, old[len(old)-1-c.keep]-maskBytes/4)
		rent += read * float64(spare)
		long := max(0, c.context-c.fixed-usualSummary-recent)
		hoard += read * float64(long)
		made := pawl.Usage{Input: c.context, CacheRead: int(c.hit * float64(c.cached)), Output: usualSummary}
		sum := 1e6*c.price.Cost(made) + again*float64(usualSummary+recent)
		if mask := again * float64(c.context-c.fixed-spare); long > usualSummary && hoard >= sum && read*float64(long)*left >= sum && !c.over(&o, made) {
			o.InputTokens += made.Input
			o.CacheReadTokens += made.CacheRead
			o.OutputTokens += made.Output
			o.Tokens += made.Total()
			o.dollars += c.price.Cost(made)
			c.context = c.fixed + usualSummary + recent
		} else if spare > 0 && rent >= mask && read*float64(spare)*left >= mask {
			c.context -= spare
		} else {
			continue
		}
		c.cached = min(c.cached, c.fixed)
		clear(old[:len(old)-c.keep])
		rent, hoard, spare = 0, 0, 0
	}
	if o.CostUSD = nil; c.priced {
		o.CostUSD = decimal(o.dollars)
	}
	return o
}

// usualSummary is the assumed size of a summary in tokens.
const usualSummary = 1500

// leastWords is the smallest reply limit in tokens.
const leastWords = 16

// over reports whether a turn, with its judges, exceeds the limits.
func (c *course) over(o *Outcome, u pawl.Usage) bool {
	cost := c.price.Cost(u) + c.dollars
	u = u.Add(c.aside)
	return c.most.Tokens > 0 && o.Tokens+u.Total() > c.most.Tokens || c.priced && c.most.Cost > 0 && o.dollars+cost > c.most.Cost
}

// clamp returns the longest reply with which a request stays within the limits.
func (c *course) clamp(o *Outcome, u pawl.Usage) int {
	n := u.Output
	if c.most.Tokens > 0 {
		n = min(n, c.most.Tokens-o.Tokens-u.Input)
	}
	if u.Output = 0; !c.priced || c.most.Cost == 0 {
		return n
	}
	one := u
	one.Output = 1000
	if each := (c.price.Cost(one) - c.price.Cost(u)) / 1000; each > 0 {
		n = min(n, int((c.most.Cost-o.dollars-c.price.Cost(u))/each))
	} else if o.dollars+c.price.Cost(u) > c.most.Cost {
		n = 0
	}
	return n
}

// A Forecast is the cost of more turns of a run that continues like its latest
// turns.
type Forecast struct {
	Iterations int      `json:"iterations"`
	Low        Outcome  `json:"low"`    // if the requests stop growing
	Likely     Outcome  `json:"likely"` // if they grow as before
	High       Outcome  `json:"high"`   // if every turn costs as much as the most expensive ones
	Raise      []string `json:"raise"`  // the limits to raise for Likely, in the form of --limit
}

// usualAhead is how many turns a report forecasts.
const usualAhead = 10

// lookBack is how many of the latest turns a forecast uses.
const lookBack = 8

// Ahead returns the cost of n more turns, and false if fewer than two replies
// have reported usage.
func (r Report) Ahead(n int) (Forecast, bool) {
	turns := r.Spending.Turns
	if len(turns) < 2 || n < 1 {
		return Forecast{}, false
	}
	from := max(0, len(turns)-lookBack)
	turns = turns[from:]
	last := turns[len(turns)-1]
	var output, most, growth, step, read, could int
	for i, t := range turns {
		output += t.OutputTokens
		most = max(most, t.OutputTokens)
		if i == 0 {
			continue
		}
		more := t.InputTokens - turns[i-1].InputTokens
		growth += more
		step = max(step, more)
		read += t.CacheReadTokens
		could += min(turns[i-1].InputTokens, t.InputTokens)
	}
	c := course{context: last.InputTokens, cached: last.InputTokens, reply: output / len(turns), hit: float64(read) / float64(max(1, could))}
	c.hit = min(1, c.hit)
	if p := r.price; p != nil && r.CostUSD != nil {
		c.price, c.priced = *p, true
	}
	low := c
	f := Forecast{Iterations: n, Raise: []string{}}
	low.results = -low.reply
	f.Low = low.run(n, nil)
	c.results = max(0, growth/(len(turns)-1)) - c.reply
	f.Likely = c.run(n, nil)
	c.reply, c.hit = most, 0
	c.results = max(0, step) - c.reply
	f.High = c.run(n, nil)
	for _, ceiling := range []struct {
		name   string
		c      Ceiling
		needed pawl.Decimal
	}{{"iterations", r.Ceilings.Iterations, pawl.Decimal(n)}, {"tokens", r.Ceilings.Tokens, pawl.Decimal(f.Likely.Tokens)}} {
		if l := ceiling.c.Limit; l != nil && ceiling.c.Used+ceiling.needed > *l {
			f.Raise = append(f.Raise, fmt.Sprintf("%s=%d", ceiling.name, round(int(ceiling.c.Used+ceiling.needed))))
		}
	}
	if l := r.Ceilings.Cost; l.Limit != nil && float64(l.Used)+f.Likely.dollars > float64(*l.Limit) {
		f.Raise = append(f.Raise, fmt.Sprintf("cost=%.2f", float64(l.Used)+1.1*f.Likely.dollars+0.005))
	}
	return f, true
}
