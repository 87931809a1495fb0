package refunds_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	refunds "github.com/pawl-run/pawl/examples/testing"
	"github.com/pawl-run/pawl/pawltest"
)

func TestRefund(t *testing.T) {
	ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
	agent := refunds.Agent(pawltest.Script(t, "testdata/refund.script.yaml"), ledger)
	result := pawltest.Transcript(t, "testdata/refund.txt", agent, "Refund order 7.")
	if err := result.Err(); err != nil || len(ledger.Dollars) > 0 {
		t.Errorf("%v, and the ledger has %v", err, ledger.Dollars)
	}
}

func TestKills(t *testing.T) {
	pawltest.KillEverywhere(t, func() pawl.Agent {
		ledger := &refunds.Ledger{Dollars: map[int]float64{7: 40}}
		return refunds.Agent(pawltest.Script(t, "testdata/refund.script.yaml"), ledger)
	}, "Refund order 7.")
}
