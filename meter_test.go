package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
)

// weigh is the bytes of what a request sends, and how many of them stand in each piece.
func weigh(r *pawl.Request) (pieces []string) {
	pieces = append(pieces, r.System, string(r.Output))
	for _, t := range r.Tools {
		pieces = append(pieces, t.Name+t.Description+string(t.Input))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				pieces = append(pieces, p.Text)
			case pawl.Thinking:
				pieces = append(pieces, p.Text)
			case pawl.Call:
				pieces = append(pieces, p.Tool+string(p.Args))
			case pawl.ToolResult:
				pieces = append(pieces, string(p.Content))
			}
		}
	}
	return pieces
}

// provider is a model that talks at random, and bills at random what it is sent.
type provider struct {
	*rand.Rand
	name   string
	price  *pawl.Price
	meter  func(r *pawl.Request) int
	broken int // of ten requests, how many fail
}

func (p *provider) reply(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	used := pawl.Usage{Input: p.meter(&r), Output: p.IntN(r.MaxTokens + 1)}
	used.CacheRead = p.IntN(used.Input + 1)
	used.CacheWrite = p.IntN(used.Input - used.CacheRead + 1)
	if p.IntN(10) < p.broken {
		if p.IntN(2) == 0 {
			used = pawl.Usage{}
		}
		return pawl.Reply{}, &pawl.ModelError{Class: pawl.Class(1 + p.IntN(6)), Usage: used}
	}
	reply := pawl.Do(pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{"n":%d,"q":%q}`, p.IntN(1000), strings.Repeat("ö", p.IntN(30)))})
	switch p.IntN(12) {
	case 0:
		reply = pawl.Do(pawl.Call{Tool: "nothing"}) // which is refused
	case 1:
		used = pawl.Usage{} // not reported
	}
	reply.Usage = used
	return reply, nil
}

// ledger starts an agent of such providers and gives each model call with what
// came of it, and what the run used before it.
func ledger(t *testing.T, r *rand.Rand, limits pawl.Limits, models ...*provider) (calls []priced, s *pawl.State) {
	s = new(pawl.State)
	t.Helper()
	agent := pawl.Agent{Name: "spender", Prompt: strings.Repeat("Do. ", r.IntN(200)), Limits: limits,
		Tools: []pawl.Tool{rambling{r}}}
	for i, m := range models {
		var model pawl.Model = pricedFunc{m.name, m.price, m.reply}
		if i == 0 {
			agent.Model = model
		} else {
			agent.Fallback = append(agent.Fallback, model)
		}
	}
	run, err := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return 0 }}).Start(t.Context(), agent, strings.Repeat("go ", r.IntN(50)), nil)
	check.Must(t, err)
	for e, err := range run.Entries(t.Context()) {
		check.Must(t, err)
		if e.Seq == 0 {
			continue
		}
		if called, ok := e.Event.(pawl.ModelCalled); ok {
			dollars, _ := s.Cost()
			calls = append(calls, priced{called: called, tokens: s.Tokens(), dollars: dollars})
		}
		s.Fold(e)
		if n := len(calls) - 1; n >= 0 {
			calls[n].after = s.Tokens() - calls[n].tokens
			dollars, _ := s.Cost()
			calls[n].cost = dollars - calls[n].dollars
			if replied, ok := e.Event.(pawl.ModelReplied); ok && !replied.Estimated {
				calls[n].input = replied.Reply.Usage.Input
			}
		}
	}
	if len(calls) == 0 && s.Status() != pawl.StatusExhausted {
		t.Fatalf("no model was called: %+v", s.Verdict())
	}
	return calls, s
}

// priced is a model call: what was used before it, and by it.
type priced struct {
	called        pawl.ModelCalled
	tokens, after int
	dollars, cost float64
	input         int // reported; zero: nothing was
}

// rambling is a tool whose results are of any length.
type rambling struct{ *rand.Rand }

func (rambling) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "look", Description: "Look.", Effect: pawl.Read, Exempt: true, Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"q":{"type":"string"}}}`)}
}

func (r rambling) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	if r.IntN(8) == 0 {
		return pawl.Output{}, fmt.Errorf("no luck: %s", strings.Repeat("x", r.IntN(500)))
	}
	return pawl.Output{JSON: fmt.Appendf(nil, "%q", strings.Repeat("word ", r.IntN(1+1<<r.IntN(12))))}, nil
}

func ceilings(r *rand.Rand) pawl.Limits {
	return pawl.Limits{Iterations: 60, Tokens: 500 + r.IntN(60_000), Cost: 0.001 + r.Float64(), ToolErrors: 100}
}

func prices(r *rand.Rand) *pawl.Price {
	p := &pawl.Price{Input: r.Float64() * 20, Output: r.Float64() * 80}
	if r.IntN(2) == 0 {
		p.CacheRead, p.CacheWrite = p.Input/10, p.Input*1.25
	}
	if r.IntN(2) == 0 {
		p.Long = pawl.Tier{From: 100 + r.IntN(10_000), Input: p.Input * 3 * r.Float64(), Output: p.Output * 2 * r.Float64(), CacheWrite: r.Float64() * 30}
	}
	return p
}

// TestNeverBeyondOneEstimate: whatever a provider counts, and however its calls
// fail, a run goes over a ceiling by no more than what its last request was
// wrongly estimated, because nothing is sent that does not fit by estimate.
func TestNeverBeyondOneEstimate(t *testing.T) { // Promises: T1.
	over := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		wild := func(q *pawl.Request) int { // up to four tokens a byte, and another each time
			n := 0
			for _, piece := range weigh(q) {
				n += len(piece)
			}
			return r.IntN(4*n + 2)
		}
		models := []*provider{{r, "one", prices(r), wild, r.IntN(4)}, {r, "two", prices(r), wild, r.IntN(4)}}
		limits := ceilings(r)
		calls, s := ledger(t, r, limits, models[:1+r.IntN(2)]...)
		for i, c := range calls {
			if c.tokens+c.called.Reserved > limits.Tokens || c.dollars+c.called.Cost > limits.Cost+1e-9 {
				t.Fatalf("seed %d, call %d: %d tokens and $%v were used, and %d and $%v reserved, of %d and $%v", seed, i, c.tokens, c.dollars, c.called.Reserved, c.called.Cost, limits.Tokens, limits.Cost)
			}
		}
		last := calls[max(0, len(calls)-1):]
		dollars, _ := s.Cost()
		for _, c := range last {
			if wrong := max(0, c.after-c.called.Reserved); s.Tokens() > limits.Tokens+wrong {
				t.Fatalf("seed %d: %d tokens of %d, and the last request was estimated wrongly by %d", seed, s.Tokens(), limits.Tokens, wrong)
			}
			if wrong := max(0, c.cost-c.called.Cost); dollars > limits.Cost+wrong+1e-9 {
				t.Fatalf("seed %d: $%v of $%v, and the last request was estimated wrongly by $%v", seed, dollars, limits.Cost, wrong)
			}
		}
		if s.Tokens() > limits.Tokens || dollars > limits.Cost {
			over++
		}
	}
	if over == 0 {
		t.Error("no run went over a ceiling at all: the providers are too tame for the test")
	}
}

// TestMarginOfThree: with it no ceiling is gone over, as long as a provider
// counts at most a token for each byte and the same for the same text.
func TestMarginOfThree(t *testing.T) {
	spent := 0.0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2))
		meter := func(salt int) func(q *pawl.Request) int {
			return func(q *pawl.Request) (n int) {
				for _, piece := range weigh(q) {
					h := fnv.New32a()
					fmt.Fprint(h, salt, piece)
					n += int(float64(len(piece)+8) * float64(h.Sum32()) / (1 << 32))
				}
				return n
			}
		}
		models := []*provider{{r, "one", prices(r), meter(1), r.IntN(4)}, {r, "two", prices(r), meter(2), r.IntN(4)}}
		limits := ceilings(r)
		limits.Margin = 3
		calls, s := ledger(t, r, limits, models[:1+r.IntN(2)]...)
		dollars, _ := s.Cost()
		if s.Tokens() > limits.Tokens || dollars > limits.Cost+1e-9 {
			c := calls[len(calls)-1]
			t.Fatalf("seed %d: %d tokens of %d, $%v of $%v; the last request had %d of %d tokens estimated, for %d bytes", seed, s.Tokens(), limits.Tokens, dollars, limits.Cost, c.input, c.called.Reserved-c.called.MaxTokens, c.called.Bytes)
		}
		spent += max(float64(s.Tokens())/float64(limits.Tokens), dollars/limits.Cost)
	}
	if spent /= 150; spent < 0.7 {
		t.Errorf("on average %.0f %% of a ceiling is used: the margin keeps too much of it back", 100*spent)
	}
}

// showing is a tool that gives back a picture.
type showing struct{}

func (showing) Info() pawl.ToolInfo { return pawl.ToolInfo{Name: "look", Effect: pawl.Read} }

func (showing) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{Files: []pawl.File{{Type: "image/png", Data: []byte("small")}}}, nil
}

// TestPicturesAreEstimated: however few its bytes, a picture has a share in what
// the next request is reserved.
func TestPicturesAreEstimated(t *testing.T) {
	for _, tool := range []pawl.Tool{showing{}, deed{pawl.ToolInfo{Name: "look", Effect: pawl.Read}}} {
		turn := 0
		model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			if turn++; turn > 1 {
				return pawl.Say("Nice."), nil
			}
			reply := pawl.Do(pawl.Call{Tool: "look"})
			reply.Usage = pawl.Usage{Input: 100, Output: 10}
			return reply, nil
		})
		run, err := engine.New(memory.New(), nil).Start(t.Context(), pawl.Agent{Name: "seer", Model: model, Tools: []pawl.Tool{tool}}, "Look.", nil)
		check.Must(t, err)
		reserved := 0
		for e, err := range run.Entries(t.Context()) {
			check.Must(t, err)
			if called, ok := e.Event.(pawl.ModelCalled); ok {
				reserved = called.Reserved - called.MaxTokens
			}
		}
		if _, shows := tool.(showing); shows != (reserved > 1700) || reserved < 100 {
			t.Errorf("%T: the request after it is estimated at %d tokens", tool, reserved)
		}
	}
}

// TestEstimatesFollowTheModel: after a few turns an estimate is a little above
// what the model counts, also when that is far from four bytes a token.
func TestEstimatesFollowTheModel(t *testing.T) {
	for _, perByte := range []float64{0.15, 0.25, 0.4, 0.7} {
		r := rand.New(rand.NewPCG(7, uint64(100*perByte)))
		meter := func(q *pawl.Request) int {
			n := 0
			for _, piece := range weigh(q) {
				n += len(piece)
			}
			return 350 + int(float64(n)*perByte) // tools make a provider add a text of its own
		}
		calls, _ := ledger(t, r, pawl.Limits{Iterations: 40, Tokens: 1 << 40, ToolErrors: 100}, &provider{r, "one", nil, meter, 0}) // by whose price nothing is left out
		low, seen, sum := 0, 0, 0.0
		for i, c := range calls {
			estimate := c.called.Reserved - c.called.MaxTokens
			if c.called.Bytes < 8000 || c.input == 0 {
				continue
			}
			if seen++; estimate < c.input {
				low++
			}
			off := float64(estimate) / float64(c.input)
			if sum += off; off < 0.95 || off > 1.5 {
				t.Errorf("%v tokens a byte, call %d: %d estimated, %d counted", perByte, i, estimate, c.input)
			}
		}
		if seen < 15 || 5*low > seen || sum/float64(seen) > 1.1 {
			t.Errorf("%v tokens a byte: %d of %d estimates are too low, on average they are %.2f of what is counted", perByte, low, seen, sum/float64(seen))
		}
	}
}
