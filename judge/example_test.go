package judge_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

type item struct {
	Name string `json:"name"`
}

func stock(_ context.Context, in item) (map[string]any, error) {
	return map[string]any{"item": in.Name, "in_stock": 1200, "shelf": "A-4711"}, nil
}

func order(_ context.Context, in item) (string, error) { return "ordered " + in.Name, nil }

func lookFor(name string) pawl.Reply {
	return pawl.Do(pawl.Call{Tool: "stock", Args: []byte(`{"name":"` + name + `"}`)})
}

var tools = []pawl.Tool{
	tool.Func("stock", "Say how many of an item there are.", stock, pawl.Read),
	tool.Func("order", "Order an item.", order, pawl.Write),
}

// A run that goes well becomes confident, by rules that cost nothing, and may
// end on it.
func ExampleReflexion() {
	agent := pawl.Agent{
		Name:     "stocktaker",
		Model:    script.Replies(lookFor("bolts"), lookFor("nuts"), lookFor("screws"), lookFor("nails"), lookFor("pins")),
		Tools:    tools,
		Policies: []pawl.Policy{judge.Reflexion(nil)},
		Stop:     stop.Confidence(0.85),
	}
	result, err := engine.Run(context.Background(), agent, "Look at every shelf.")
	fmt.Println(result.Verdict, err)
	fmt.Println("turns:", result.Iterations)
	// Output:
	// success: confidence >= 0.85 <nil>
	// turns: 4
}

// The model is told of values in its answer that appear nowhere.
func ExampleGrounding() {
	agent := pawl.Agent{
		Name:     "stocktaker",
		Model:    script.Replies(lookFor("bolts"), pawl.Say("There are 12,000 bolts."), pawl.Say("There are 1,200 bolts.")),
		Tools:    tools,
		Policies: []pawl.Policy{judge.Grounding(nil)},
	}
	journal := memory.New()
	run, err := engine.New(journal, nil).Start(context.Background(), agent, "How many bolts are there?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(context.Background())
	fmt.Println(result.Answer, err)
	for entry, err := range engine.Entries(context.Background(), journal, run.ID(), 1) {
		if g, ok := entry.Event.(pawl.Grounded); ok && err == nil {
			fmt.Println("grounded:", g.OK, g.Claims)
		}
	}
	// Output:
	// There are 1,200 bolts. <nil>
	// grounded: true [12,000]
	// grounded: true []
}

// A model of its own judges what the agent is about to do.
func ExampleSteer() {
	small := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		verdict := `{"call": "c_1", "verdict": "allow", "reason": "it only looks"}`
		if strings.Contains(r.Messages[0].Parts[0].(pawl.Text).Text, `"tool":"order"`) {
			verdict = `{"call": "c_1", "verdict": "refuse", "reason": "nobody asked for an order"}`
		}
		return pawl.Say(`{"calls": [` + verdict + `]}`), nil
	})
	agent := pawl.Agent{
		Name:     "stocktaker",
		Model:    script.Replies(pawl.Do(pawl.Call{Tool: "order", Args: []byte(`{"name":"bolts"}`)}), pawl.Say("I may not order.")),
		Tools:    tools,
		Policies: []pawl.Policy{judge.Steer("Look, but order nothing.", &judge.SteerOptions{Model: small})},
	}
	result, err := engine.Run(context.Background(), agent, "How many bolts are there?")
	fmt.Println(result.Answer, err)
	fmt.Println(result.Steps[0].Calls[0].Tool, result.Steps[0].Calls[0].Status)
	// Output:
	// I may not order. <nil>
	// order refused
}

// What led to what can be had of any state, and stands in the log of a run
// whose agent has the policy.
func ExampleCauses() {
	agent := pawl.Agent{
		Name:     "stocktaker",
		Model:    script.Replies(lookFor("bolts"), lookFor("A-4711"), pawl.Say("Bolts are on shelf A-4711.")),
		Tools:    tools,
		Policies: []pawl.Policy{judge.Causal()},
	}
	journal := memory.New()
	run, err := engine.New(journal, nil).Start(context.Background(), agent, "Where are the bolts?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err = run.Wait(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	state, err := engine.Load(context.Background(), journal, run.ID())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range judge.Causes(state).Edges {
		fmt.Println(e.From, "->", e.To, e.Values)
	}
	// Output:
	// c_1 -> c_2 [A-4711]
	// c_1 -> answer [A-4711]
}
