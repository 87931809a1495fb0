package explain_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

func planned(model *pawl.Price, tools int, change func(*pawl.Declaration)) pawl.Declaration {
	d := pawl.Declaration{
		Agent: "planned", Loop: "react", Prompt: strings.Repeat("Do it. ", 100), Model: pawl.ModelInfo{Name: "some/model", Price: model},
		Limits: pawl.Limits{Iterations: 20, Tokens: 500_000, Time: 30 * time.Minute},
	}
	for i := range tools {
		d.Tools = append(d.Tools, pawl.ToolInfo{Name: fmt.Sprint("tool", i), Description: "Does a thing.", Input: []byte(`{"type":"object"}`), MaxOutput: 16 << 10})
	}
	if change != nil {
		change(&d)
	}
	return d
}

// TestPlanKeepsCeilings: no figure is above a ceiling, and none below the one before it.
func TestPlanKeepsCeilings(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		price := &pawl.Price{Input: r.Float64() * 20, Output: r.Float64() * 80, CacheRead: r.Float64() * float64(r.IntN(2)), CacheWrite: 20 * r.Float64() * float64(r.IntN(2))}
		if r.IntN(2) == 0 {
			price.Long = pawl.Tier{From: 1 + r.IntN(5000), Input: 40 * r.Float64(), Output: 90 * r.Float64()}
		}
		if r.IntN(5) == 0 {
			price = nil
		}
		d := planned(price, r.IntN(3), func(d *pawl.Declaration) {
			d.Limits.Iterations = 1 + r.IntN(60)
			d.Limits.Tokens = 1 + r.IntN(1<<r.IntN(20))
			d.Observes = r.IntN(3) == 0
			d.Sampling.MaxTokens = r.IntN(2) * r.IntN(1000)
			if price != nil && r.IntN(2) == 0 {
				d.Limits.Cost = r.Float64()
			}
			if r.IntN(4) == 0 {
				d.Loop, d.Tools = "single", nil
			}
			if r.IntN(3) == 0 {
				compacting(d, []string{`{"keep":2}`, `{"keep":3,"never_by_price":true}`}[r.IntN(2)])
			}
			if r.IntN(3) == 0 {
				d.Auxiliary = []pawl.ModelInfo{{Name: "judge", Price: price}}
			}
		})
		p := explain.PlanOfDeclaration(d, &explain.PlanOptions{Input: "go", Iterations: r.IntN(2) * r.IntN(100), Result: r.IntN(2) * r.IntN(9000)})
		for name, o := range map[string]explain.Outcome{"low": p.Low, "likely": p.Likely, "otherwise": p.Otherwise, "ceiling": p.Ceiling} {
			if o.Iterations > d.Limits.Iterations || o.Tokens > d.Limits.Tokens || o.CostUSD != nil && d.Limits.Cost > 0 && float64(*o.CostUSD) > d.Limits.Cost {
				t.Fatalf("seed %d: %s is %+v, above %+v", seed, name, o, d.Limits)
			}
			if (o.CostUSD != nil) != (price != nil) {
				t.Fatalf("seed %d: %s costs %v at price %v", seed, name, o.CostUSD, price)
			}
		}
		if p.Low.Tokens > p.Likely.Tokens || p.Likely.Tokens > p.Ceiling.Tokens || p.Low.Iterations > p.Likely.Iterations {
			t.Fatalf("seed %d: low %+v, likely %+v, ceiling %+v", seed, p.Low, p.Likely, p.Ceiling)
		}
		if price != nil && (*p.Low.CostUSD > *p.Likely.CostUSD+1e-12 || *p.Likely.CostUSD > *p.Ceiling.CostUSD+1e-12) {
			t.Fatalf("seed %d: low $%v, likely $%v, ceiling $%v", seed, *p.Low.CostUSD, *p.Likely.CostUSD, *p.Ceiling.CostUSD)
		}
		if q := p.Parts; q.Pinned+q.Verbatim+q.Results+q.Asides+q.Output != p.Likely.Tokens || min(q.Pinned, q.Verbatim, q.Results, q.Asides, q.Output) < 0 {
			t.Fatalf("seed %d: the parts %+v are not the likely %d", seed, q, p.Likely.Tokens)
		}
	}
}

// compacting declares a policy that shortens the conversation.
func compacting(d *pawl.Declaration, parameters string) {
	d.Policies = []string{"context()"}
	d.PolicyInfo = []pawl.PolicyInfo{{Kind: "context", Parameters: json.RawMessage(parameters)}}
}

// TestPlanOfSteps: the calls of known steps are counted.
func TestPlanOfSteps(t *testing.T) {
	const steps = `[
		{"id": "a", "single": {"prompt": "one"}},
		{"id": "b", "if": "x", "single": {"prompt": "two"}},
		{"id": "c", "switch": "y", "cases": {"p": [{"id": "d", "single": {"prompt": "three"}}, {"id": "e", "tool": "t"}], "q": []}, "default": [{"id": "f", "tool": "t"}]},
		{"id": "g", "parallel": [[{"id": "h", "single": {"prompt": "four"}}], [{"id": "i", "tool": "t"}]]},
		{"id": "j", "for_each": "z", "do": [{"id": "k", "single": {"prompt": "five"}}]},
		{"id": "l", "while": "w", "max": 9, "do": [{"id": "m", "single": {"prompt": "six"}}]}]`
	p := explain.PlanOfDeclaration(planned(&dear, 1, func(d *pawl.Declaration) { d.Loop, d.Steps = "workflow", []byte(steps) }), nil)
	if p.Low.Iterations != 3 || p.Likely.Iterations != 1+1+1+1+3+2 {
		t.Errorf("low %d, likely %d turns, want 3 and 9: %q", p.Low.Iterations, p.Likely.Iterations, p.Assumptions)
	}
}

// TestForecast: a run that goes on as it went costs what was forecast.
func TestForecast(t *testing.T) {
	play := func(turns int) *written {
		d := declaration()
		d.Limits = pawl.Limits{Iterations: 12, Tokens: 200_000, Cost: 5}
		w := write(d, "go")
		before := 0
		for i := range turns {
			input := 5000 + 400*i
			w.think(time.Second, pawl.Usage{Input: input, CacheRead: before, CacheWrite: input - before, Output: 90 + i%3*10}, fmt.Sprintf(`{"a":%d}`, i), "x")
			before = input
		}
		return w
	}
	short, long := play(10).report(t), play(30).report(t)
	f, ok := short.Ahead(20)
	if !ok {
		t.Fatal("no forecast after ten turns")
	}
	got, want := *f.Likely.CostUSD, *long.CostUSD-*short.CostUSD
	if got < 0.97*want || got > 1.03*want {
		t.Errorf("20 more turns are forecast at $%v and cost $%v", got, want)
	}
	if *f.Low.CostUSD >= got || *f.High.CostUSD <= got {
		t.Errorf("low $%v, likely $%v, high $%v", *f.Low.CostUSD, got, *f.High.CostUSD)
	}
	if want := []string{"iterations=30", "tokens=320000"}; !slices.Equal(f.Raise, want) {
		t.Errorf("ceilings to raise: %v, want %v", f.Raise, want)
	}
	if _, ok := play(1).report(t).Ahead(5); ok {
		t.Error("a forecast from one turn")
	}
}
