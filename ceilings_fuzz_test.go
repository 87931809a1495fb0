package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
)

// deed is a tool that does nothing.
type deed struct{ info pawl.ToolInfo }

func (d deed) Info() pawl.ToolInfo { return d.info }

func (d deed) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: json.RawMessage(`"done"`)}, nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func logOf(t testing.TB, j pawl.Journal, run string) (list []pawl.Entry) {
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		check.Must(t, err)
		list = append(list, e)
	}
	return list
}

// FuzzCeilings: whatever a provider claims to have used, no request is sent
// that does not fit what is left of tokens and dollars.
func FuzzCeilings(f *testing.F) { // Promises: T2.
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		figures := []int{-1 << 62, -1, 0, 0, 1, 50, 500, 5000, 50_000, 1 << 62}
		figure := func() int { return figures[r.IntN(len(figures))] }
		price := pawl.Price{Input: r.Float64() * 10, Output: r.Float64() * 50, CacheWrite: r.Float64() * 20}
		model := pricedFunc{"priced", &price, func(context.Context, pawl.Request) (pawl.Reply, error) {
			u := pawl.Usage{Input: figure(), Output: figure(), CacheRead: figure(), CacheWrite: figure(), Reasoning: figure()}
			if r.IntN(5) == 0 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.Class(1 + r.IntN(6)), Usage: u}
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{"n":%d}`, r.IntN(100))}}, Usage: u}, nil
		}}
		a := pawl.Agent{Name: "spender", Model: pawltest.Check(t, model),
			Limits:   pawl.Limits{Tokens: 1 + r.IntN(100_000), Cost: r.Float64(), Iterations: 1 + r.IntN(30)},
			Sampling: pawl.Sampling{MaxTokens: r.IntN(10_000), Effort: pawl.Efforts[r.IntN(len(pawl.Efforts))]},
			Tools:    []pawl.Tool{deed{pawl.ToolInfo{Name: "look", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}}}}
		j := memory.New()
		quick := &engine.Options{Backoff: func(int) time.Duration { return 0 }}
		run := must(engine.New(j, quick).Start(t.Context(), a, strings.Repeat("go ", r.IntN(3000)), nil))
		res := must(run.Wait(t.Context()))
		if res.Status == pawl.StatusSuccess || res.Status == pawl.StatusRunning {
			t.Fatalf("the run ended as %v", res.Verdict)
		}
		s := new(pawl.State)
		for _, e := range logOf(t, j, run.ID()) {
			if c, ok := e.Event.(pawl.ModelCalled); ok {
				cost, _ := s.Cost()
				if s.Tokens()+c.Reserved > a.Limits.Tokens || c.Reserved < 0 || s.Tokens() < 0 {
					t.Errorf("seed %d, entry %d: %d used and %d reserved of %d tokens", seed, e.Seq, s.Tokens(), c.Reserved, a.Limits.Tokens)
				}
				if cost+c.Cost > a.Limits.Cost*(1+1e-9) || c.Cost < 0 || cost < 0 {
					t.Errorf("seed %d, entry %d: $%g used and $%g reserved of $%g", seed, e.Seq, cost, c.Cost, a.Limits.Cost)
				}
				if e.Iteration > a.Limits.Iterations {
					t.Errorf("seed %d, entry %d: turn %d of %d", seed, e.Seq, e.Iteration, a.Limits.Iterations)
				}
			}
			s.Fold(e)
		}
	})
}

// pricedFunc is a model with a name and a price.
type pricedFunc struct {
	name  string
	price *pawl.Price
	pawl.ModelFunc
}

func (p pricedFunc) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: p.name, Price: p.price} }
