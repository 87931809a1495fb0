package refunds_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	refunds "github.com/pawl-run/pawl/examples/testing"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

func TestRefund(t *testing.T) {
	ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
	agent := refunds.Agent(pawltest.Script(t, "testdata/refund.script.yaml"), ledger)
	result := pawltest.Transcript(t, "testdata/refund.txt", agent, "Refund order 7.", nil)
	if err := result.Err(); err != nil || len(ledger.Dollars) > 0 {
		t.Errorf("%v, and the ledger has %v", err, ledger.Dollars)
	}
}

func TestKills(t *testing.T) {
	pawltest.KillEverywhere(t, func() pawl.Agent {
		ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
		return refunds.Agent(pawltest.Script(t, "testdata/refund.script.yaml"), ledger)
	}, "Refund order 7.", nil)
}

// An agent with approvals: the test decides in the place of a person.
func TestApproved(t *testing.T) {
	asked := func() pawl.Agent {
		ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
		agent := refunds.Agent(pawltest.Script(t, "testdata/refund.script.yaml"), ledger)
		agent.Policies = []pawl.Policy{approval.For("refund")}
		return agent
	}
	ann := &engine.Options{Approver: engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
		return engine.Decision{Approve: r.Tool == "refund", By: "ann"}, nil
	})}
	pawltest.Transcript(t, "testdata/approved.txt", asked(), "Refund order 7.", ann)
	pawltest.KillEverywhere(t, asked, "Refund order 7.", ann)
}

// An agent with a question, a client tool and an approval: the test takes the place of the
// person and of the client.
func TestAsked(t *testing.T) {
	asking := func() pawl.Agent {
		ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
		agent := refunds.Agent(pawltest.Script(t, "testdata/asked.script.yaml"), ledger)
		agent.Tools = append(agent.Tools, tool.AskHuman(), tool.Client("show_receipt", "Show the receipt.", json.RawMessage(`{"type":"object","properties":{"order":{"type":"integer"}}}`), nil))
		agent.Policies = []pawl.Policy{approval.For("refund")}
		return agent
	}
	ann := &engine.Options{Approver: pawltest.Person{
		Approves: func(context.Context, engine.Request) (engine.Decision, error) {
			return engine.Decision{Approve: true, By: "ann"}, nil
		},
		Answers: func(p pawl.Pending) string { return "Order 7. (" + p.Reason + ")" },
		Returns: func(pawl.Pending) any { return map[string]bool{"shown": true} },
	}}
	result := pawltest.Transcript(t, "testdata/asked.txt", asking(), "Refund my order.", ann)
	if err := result.Err(); err != nil {
		t.Error(err)
	}
	pawltest.KillEverywhere(t, asking, "Refund my order.", ann)
}
