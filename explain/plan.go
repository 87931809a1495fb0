package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/figure"
)

// A Plan is the projected cost of a run, before it starts. Low is the lowest
// plausible cost, Likely rests on the assumptions, and Ceiling is the most that
// the limits permit.
type Plan struct {
	Agent       string     `json:"agent"`
	Model       string     `json:"model"`
	Low         Outcome    `json:"low"`
	Likely      Outcome    `json:"likely"`
	Ceiling     Outcome    `json:"ceiling"`
	Parts       Parts      `json:"parts"` // of Likely
	Compaction  bool       `json:"compaction"`
	Otherwise   Outcome    `json:"otherwise"` // Likely with compaction turned off if it is on, and vice versa
	Limits      PlanLimits `json:"limits"`
	Assumptions []string   `json:"assumptions"`
	Missing     []string   `json:"missing"` // other costs, within the same limits
}

// Parts are the tokens of a plan by kind.
type Parts struct {
	Pinned   int `json:"pinned"`
	Verbatim int `json:"verbatim"`
	Results  int `json:"results"`
	Asides   int `json:"asides"`
	Output   int `json:"output"`
}

// PlanLimits are the limits of a plan. CostUSD is nil if there is none.
type PlanLimits struct {
	Iterations int           `json:"iterations"`
	Tokens     int           `json:"tokens"`
	Time       string        `json:"time"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
}

// PlanOptions are facts that a declaration does not contain. The zero value is
// right.
type PlanOptions struct {
	Input      string // the run's input
	Iterations int    // turns of the likely run; zero: half of the limit, at least two and at most twenty
	Result     int    // tokens of results per turn; zero: 1200, or the most the tools may return
}

// Assumptions about a turn, from the simulations of compaction: 300 tokens of
// reasoning and call, results of lognormal length with a mean of 1,200 tokens.
const (
	perToken    = 4 // bytes
	usualReply  = 300
	usualResult = 1200
	leastReply  = 150
	leastResult = 300
	usualTurns  = 20
	judgeInput  = 1500
	judgeOutput = 200
	usualKeep   = 5
	usualFound  = 5 // tools
)

// PlanOf plans a run of a machine's agent. It calls nothing. The first request
// has the size that a run reserves for it, without the margin.
func PlanOf(m *pawl.Machine, o *PlanOptions) Plan {
	if o == nil {
		o = &PlanOptions{}
	}
	d := m.Declaration()
	started := pawl.Entry{Seq: 1, Event: pawl.RunStarted{Declaration: d, Input: o.Input}}
	state := new(pawl.State)
	state.Fold(started)
	steps := d.Steps != nil // their requests have neither tools nor a conversation
	_, bytes := m.Estimate(state, &pawl.Think{Purpose: pawl.PurposeTurn, View: pawl.View{Bare: steps, Alone: steps}})
	return planOf(&d, bytes, o)
}

func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }

// planOf plans a run whose first request has the given number of bytes.
func planOf(d *pawl.Declaration, first int, o *PlanOptions) Plan {
	l := d.Limits
	p := Plan{Agent: d.Agent, Model: d.Model.Name, Limits: PlanLimits{Iterations: l.Iterations, Tokens: l.Tokens, Time: l.Time.String()}, Missing: []string{}}
	if l.Cost > 0 {
		p.Limits.CostUSD = new(pawl.Decimal(l.Cost))
	}
	input := tokens(len(o.Input))
	fixed := max(0, tokens(first)-input)
	most := 0
	for i := range d.Tools {
		if !strings.HasPrefix(d.Tools[i].Name, "__") {
			most = max(most, d.Tools[i].MaxOutput/perToken)
		}
	}
	single := d.Loop == "single"
	turns, result := usual(o, l.Iterations, single, most, d.Observes)
	least := min(turns, 2)
	known := stepsOf(d.Steps, l.Rounds)
	if known != nil { // they send no tools, and each has its own prompt
		var asked, bytes int
		least, asked, bytes = known.asks()
		if o.Iterations == 0 {
			turns = min(asked, l.Iterations)
		}
		least = min(least, turns)
		fixed, result = tokens(first), bytes/perToken/max(1, asked)
	}
	reply := usualReply
	if d.Sampling.MaxTokens > 0 {
		reply = min(reply, d.Sampling.MaxTokens)
	}
	found, all := 0, 0 // tokens of the tools that a search finds, and of all deferred ones
	for i := range d.Tools {
		if d.Tools[i].Deferred && known == nil {
			all += tokens(size(&d.Tools[i]))
			found++
		}
	}
	found = all * min(found, usualFound) / max(1, found)
	c := course{found: found, context: fixed + input, fixed: fixed + input, reply: reply, results: result, most: l, keep: usualKeep}
	if d.Model.Price != nil {
		c.price, c.priced = *d.Model.Price, true
	}
	if c.price.CacheRead > 0 {
		c.hit = 1
	}
	c.aside, c.dollars = judges(d)
	context := compaction(d)
	c.compacts, c.keep, c.window = !context.Never, context.Keep, context.MaxTokens
	p.Compaction = c.compacts

	low := c
	low.found = 0
	low.reply, low.results, low.aside, low.dollars = min(leastReply, reply), min(leastResult, result), pawl.Usage{}, 0
	p.Low = low.run(least, nil)
	p.Likely = c.run(turns, func(in, out int) {
		p.Parts.Pinned += min(fixed, in)
		p.Parts.Output += out
		rest := in - min(fixed, in)
		said := min(rest, input+p.Parts.Output-out)
		if known != nil {
			said = rest
		}
		p.Parts.Verbatim += said
		p.Parts.Results += rest - said
	})
	p.Parts.Asides = p.Likely.Tokens - p.Parts.Pinned - p.Parts.Verbatim - p.Parts.Results - p.Parts.Output
	if p.Likely.Tokens < p.Low.Tokens || p.Likely.Iterations < p.Low.Iterations { // a limit ends it in the first turns
		p.Low = p.Likely
	}
	other := c
	other.compacts = !c.compacts
	p.Otherwise = other.run(turns, nil)
	p.Ceiling = ceiling(d)
	if all > 0 {
		p.Assumptions = append(p.Assumptions, fmt.Sprintf("one search for tools, which finds %s of the %s tokens that are not shown; nothing of the request after it is in a cache", figure.Group(found), figure.Group(all)))
	}
	p.assume(d, o, fixed+input, turns, reply, result, c)
	return p
}

// usual returns the assumed number of turns and the tokens of their results.
func usual(o *PlanOptions, limit int, single bool, most int, observes bool) (turns, result int) {
	switch turns = o.Iterations; {
	case single || most == 0 && !observes && turns == 0:
		turns = 1
	case turns == 0:
		turns = max(2, min(limit/2, usualTurns))
	}
	if result = o.Result; result == 0 {
		result = min(usualResult, most)
		if observes {
			result += usualResult / 2
		}
	}
	if single {
		result = 0
	}
	return min(turns, limit), result
}

// compaction is what the declaration says of the context policy, or the
// engine's default: whether it never compacts by price, how many turns it keeps,
// and the most tokens of a request; zero: no limit.
func compaction(d *pawl.Declaration) (p struct {
	Keep      int
	MaxTokens int  `json:"max_tokens"`
	Never     bool `json:"never_by_price"`
	Model     string
}) {
	p.Keep = usualKeep
	for _, parameters := range d.PoliciesOf("context") {
		_ = json.Unmarshal(parameters, &p)
	}
	return p
}

// judges returns the use and the dollars per turn of the policies' models.
func judges(d *pawl.Declaration) (u pawl.Usage, dollars float64) {
	for i := range d.Auxiliary {
		if d.Auxiliary[i].Name == compaction(d).Model { // a summary model is not asked at every turn
			continue
		}
		one := pawl.Usage{Input: judgeInput, Output: judgeOutput}
		u = u.Add(one)
		if p := d.Auxiliary[i].Price; p != nil {
			dollars += p.Cost(one)
		}
	}
	return u, dollars
}

// ceiling returns the most that the limits permit: all tokens at the highest
// price of any of them, within the dollar limit.
func ceiling(d *pawl.Declaration) Outcome {
	o := Outcome{Iterations: d.Limits.Iterations, Tokens: d.Limits.Tokens}
	if d.Loop == "single" {
		o.Iterations = 1
	}
	if d.Model.Price == nil {
		return o
	}
	dearest := 0.0
	priced := true
	for _, m := range append(append([]pawl.ModelInfo{d.Model}, d.Fallback...), d.Auxiliary...) {
		if m.Price == nil {
			priced = false
			continue
		}
		p, l := m.Price, m.Price.Long
		dearest = max(dearest, p.Input, p.Output, p.CacheRead, p.CacheWrite)
		if l.From > 0 && l.From < d.Limits.Tokens {
			dearest = max(dearest, l.Input, l.Output, l.CacheRead, l.CacheWrite)
		}
	}
	if o.dollars = dearest * float64(d.Limits.Tokens) / 1e6; d.Limits.Cost > 0 {
		o.dollars = min(o.dollars, d.Limits.Cost)
	}
	if priced || d.Limits.Cost > 0 {
		o.CostUSD = new(pawl.Decimal(o.dollars))
	}
	return o
}

// assume lists the plan's assumptions.
func (p *Plan) assume(d *pawl.Declaration, o *PlanOptions, first, turns, reply, result int, c course) {
	say := func(format string, args ...any) { p.Assumptions = append(p.Assumptions, fmt.Sprintf(format, args...)) }
	tools := ""
	if n := len(d.Tools); n > 0 && d.Steps == nil {
		tools = ", " + figure.Count(n, "tool")
	}
	say("four bytes a token: prompt%s and input have %s", tools, figure.Group(first))
	switch {
	case d.Steps != nil && o.Iterations == 0:
		say("the steps ask a model %s, with three items to a list and two rounds to a loop", figure.Count(turns, "time"))
	case d.Loop == "single":
		say("one turn, which is all the loop has")
	case o.Iterations > 0:
		say("%s, as asked", figure.Count(turns, "turn"))
	case turns == 1:
		say("one turn, since there is no tool to call")
	default:
		say("%s, of the %s it may have", figure.Count(turns, "turn"), figure.Group(d.Limits.Iterations))
	}
	switch {
	case d.Steps != nil:
		say("%s to a reply, and %s to a prompt of a step", figure.Count(reply, "token"), figure.Group(result))
	case result > 0:
		say("%s to a reply, and %s of results to a turn", figure.Count(reply, "token"), figure.Group(result))
	default:
		say("%s to a reply", figure.Count(reply, "token"))
	}
	switch {
	case !c.priced:
		say("nothing of dollars, since the model has no price")
	case c.hit > 0:
		say("the provider's cache has everything that was sent before")
	default:
		say("no cache, since none is priced")
	}
	if n := p.Likely.Iterations; n < turns {
		say("a ceiling ends it after %s", figure.Count(n, "turn"))
	}
	if c.aside != (pawl.Usage{}) {
		say("%s to a turn for the judges of the run", figure.Count(p.Parts.Asides/max(1, p.Likely.Iterations), "token"))
	}
	if d.Limits.Cost == 0 && p.Ceiling.CostUSD != nil {
		say("ceiling: every token at $%g a million, the dearest there is; limits.cost sets a lower one", p.Ceiling.dollars*1e6/float64(max(1, p.Ceiling.Tokens)))
	}
	for i := range d.Tools {
		if of := d.Tools[i].Agent; of != "" && (d.Steps == nil || !strings.HasPrefix(of, d.Agent+"-")) { // branches of a workflow are counted already
			p.Missing = append(p.Missing, "what the agent "+d.Tools[i].Agent+" spends")
		}
	}
	for i := range d.Tools {
		if to, hands := strings.CutPrefix(d.Tools[i].Name, "handoff_to_"); hands {
			p.Missing = append(p.Missing, "what "+to+" spends of the same limits if it gets the conversation")
		}
	}
	if len(d.Fallback) > 0 {
		p.Missing = append(p.Missing, "fallback models")
	}
	p.Missing = append(p.Missing, "attempts that fail")
}
