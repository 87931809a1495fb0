package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/journal/memory"
)

// costly gives a model a price.
type costly struct {
	pawl.Model
	price pawl.Price
}

func (c costly) Describe() pawl.ModelInfo {
	info := c.Model.(pawl.Describer).Describe()
	info.Price = &c.price
	return info
}

// page is a tool with any name, description and schema, whose results are of any kind.
type page struct {
	info pawl.ToolInfo
	*rand.Rand
}

func (p page) Info() pawl.ToolInfo { return p.info }

func (p page) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	switch p.IntN(5) {
	case 0:
		return pawl.Output{}, fmt.Errorf("no luck: %s", prose(p.Rand, 200))
	case 1:
		raw, err := json.Marshal(map[string]any{"rows": []string{prose(p.Rand, 300), prose(p.Rand, 300)}})
		return pawl.Output{JSON: raw}, err
	}
	raw, err := json.Marshal(prose(p.Rand, 1<<p.IntN(11)))
	return pawl.Output{JSON: raw}, err
}

// prose is a text of at most so many letters, of all kinds that encoders treat otherwise.
func prose(r *rand.Rand, most int) string {
	var b strings.Builder
	words := []string{"word ", "Straße ", "漢字", "\n", "\t\"quoted\" ", "<div class=\"x\">&amp;</div>", `C:\dir\`, "🙂", "{\"a\":[1,2]}", "\u2028"}
	for n := r.IntN(most + 1); b.Len() < n; {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// anyAgent is an agent of any make.
func anyAgent(r *rand.Rand, model pawl.Model) pawl.Agent {
	most := 1 << r.IntN(9) // letters of each text: a small agent has more around its words than words
	a := pawl.Agent{
		Name: "spender", Prompt: prose(r, most), Model: model, Serial: true,
		Limits: pawl.Limits{Margin: 1, ToolErrors: 100, Iterations: 30, Tokens: 100 + r.IntN(2<<(8+r.IntN(7)))},
	}
	if r.IntN(2) == 0 {
		a.Limits.Cost = float64(a.Limits.Tokens) * (0.2 + r.Float64()) * 3e-6
	}
	for i := range r.IntN(5) {
		info := pawl.ToolInfo{
			Name: fmt.Sprintf("look_%d%s", i, strings.Repeat("y", r.IntN(30))), Description: prose(r, most/2), Effect: pawl.Read, Exempt: true,
			Input: json.RawMessage(`{ "type": "object", "properties": {"q": {"type": "string", "description": "<what> \"to\" look for"}} }`),
		}
		a.Tools = append(a.Tools, page{info, r})
	}
	switch r.IntN(4) {
	case 0:
		a.Strategy = pawl.StrategyJSON
	case 1:
		a.Output = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`)
	case 2:
		a.Sampling = pawl.Sampling{Temperature: 0.5, MaxTokens: 500, Effort: "high"}
	}
	return a
}

// estimatedFirst is the input of the first request as a run without ceilings estimates it.
func estimatedFirst(t *testing.T, agent pawl.Agent, input string) int {
	t.Helper()
	agent.Limits = pawl.Limits{}
	m, err := pawl.NewMachine(agent)
	must(t, err)
	state := new(pawl.State)
	state.Fold(pawl.Entry{Seq: 1, Event: pawl.RunStarted{Declaration: m.Declaration(), Input: input}})
	_, bytes := m.Estimate(state, &pawl.Think{Purpose: pawl.PurposeTurn})
	return (bytes + 2) / 3
}

// TestCeilingsHoldFromTheFirstRequest: a provider that bills a token for four
// bytes of the body that was really sent never bills more than a ceiling allows,
// with a margin of one, whatever the agent, on any wire.
func TestCeilingsHoldFromTheFirstRequest(t *testing.T) {
	for w := range adapters {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			var r *rand.Rand
			think := func(_ context.Context, q pawl.Request) (pawl.Reply, error) {
				room := 4*q.MaxTokens - 60 // of which some are the call's
				n := r.IntN(5)
				if n > 0 && len(q.Tools) > 0 && room > 600 {
					raw, err := json.Marshal(map[string]string{"q": prose(r, 80)})
					return pawl.Do(pawl.Call{Tool: q.Tools[r.IntN(len(q.Tools))].Name, Args: raw}), err
				}
				if n == 2 && room < 8000 { // all that it may say
					return pawl.Say(strings.Repeat("x", max(1, 4*q.MaxTokens))), nil
				}
				if n == 1 {
					return pawl.Say(`{"answer":"` + strings.Repeat("x", r.IntN(20)) + `"}`), nil
				}
				return pawl.Say(prose(r, max(0, min(room/4, 300))) + "."), nil
			}
			fake := fakeprovider.New(pawl.ModelFunc(think), nil)
			srv := httptest.NewServer(fake)
			defer srv.Close()
			defer fake.Close()
			eng := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return 0 }})
			defer eng.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			model := adapters[w](srv.URL, &http.Client{Transport: transport})
			billed, asked, spent := 0, 0, 0.0
			for seed := range uint64(120) {
				r = rand.New(rand.NewPCG(seed, uint64(w)))
				price := pawl.Price{Input: 1 + r.Float64(), Output: 4}
				agent := anyAgent(r, costly{model, price})
				before := len(fake.Requests())
				input := prose(r, 1<<r.IntN(9))
				first := estimatedFirst(t, agent, input)
				h, err := eng.Start(t.Context(), agent, input, nil)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				res, err := h.Wait(t.Context())
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				sent := 0
				for i, q := range fake.Requests()[before:] {
					tokens := (len(q.Body) + 3) / 4
					if i == 0 && tokens > first {
						t.Errorf("seed %d: the first request has %d tokens, estimated at %d", seed, tokens, first)
					}
					sent += tokens
					asked++
				}
				used := pawl.Usage{Input: sent, Output: res.Usage.Output}
				if used.Total() > agent.Limits.Tokens {
					t.Errorf("seed %d: %d tokens of %d after %d requests; %d of input were sent, %d are booked", seed, used.Total(), agent.Limits.Tokens, len(fake.Requests())-before, sent, res.Usage.Input)
				}
				if c := price.Cost(used); agent.Limits.Cost > 0 && c > agent.Limits.Cost+1e-12 {
					t.Errorf("seed %d: $%v of $%v", seed, c, agent.Limits.Cost)
				}
				if sent > 0 {
					billed++
					spent += float64(used.Total()) / float64(agent.Limits.Tokens)
				}
			}
			if billed < 40 || asked < 2*billed {
				t.Errorf("only %d of 120 runs were billed anything, for %d requests", billed, asked)
			}
			t.Logf("%d requests in %d runs, which used %.0f %% of their ceilings", asked, billed, 100*spent/float64(billed))
		})
	}
}
