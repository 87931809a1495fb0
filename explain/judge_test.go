package explain_test

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/judge"
)

// judged is a run under all judges: a call is refused, one comes back to where
// it had been, a result contradicts itself, and three answers are rejected.
func judged(l *lab) []pawl.Entry {
	model := scripted(l.t, `
price: {input: 3, output: 15}
purposes:
  judge.reflexion:
    - {text: '{"confidence": 0.4, "assessment": "It goes to and fro.", "hint": "Answer with what you have."}', usage: {input: 80, output: 20}}
  judge.steer:
    - {text: '{"calls": [{"call": "c_5", "verdict": "refuse", "reason": "nobody asked for it"}]}', usage: {input: 60, output: 15}}
replies:
  - {calls: [{tool: page, args: {token: start}}, {tool: stock, args: {item: bolts}}], usage: {input: 100, output: 10}}
  - {calls: [{tool: page, args: {token: "tok-2222"}}], usage: {input: 120, output: 10}}
  - {calls: [{tool: page, args: {token: "tok-1111"}}, {tool: pay, args: {eur: 40}}, {tool: stock, args: {item: bolts}}], usage: {input: 140, output: 10}}
  - {calls: [{tool: page, args: {token: "tok-2222"}}], usage: {input: 160, output: 10}}
  - {text: There are 900 bolts., usage: {input: 180, output: 10}}
  - {text: There are 901 bolts., usage: {input: 200, output: 10}}
  - {text: There are 902 bolts., usage: {input: 220, output: 10}}
`)
	left := 120
	a := pawl.Agent{Name: "judged", Model: model, Tools: []pawl.Tool{
		tool("page", pawl.Read, func(_ context.Context, args map[string]any) (string, error) {
			if args["token"] == "tok-2222" {
				return `{"items":["nuts"],"next":"tok-1111"}`, nil
			}
			return `{"items":["bolts"],"next":"tok-2222"}`, nil
		}),
		tool("stock", pawl.Read, func(context.Context, map[string]any) (string, error) {
			left += 7
			return map[bool]string{true: `{"bolts":127}`, false: `{"bolts":134}`}[left == 127], nil
		}),
		pay(),
	}}
	a.Policies = []pawl.Policy{
		judge.Reflexion(&judge.ReflexionOptions{Every: 4, Model: model}),
		judge.Grounding(&judge.GroundingOptions{Strict: true}),
		judge.Causal(),
		judge.Steer("Pay for nothing.", &judge.SteerOptions{WritesOnly: true}),
	}
	return l.run(a, "How many bolts are there?")
}
