package cli

import (
	"fmt"
	"io"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/display"
)

// cost is what a run cost, as JSON.
type cost struct {
	Run        string        `json:"run"`
	Agent      string        `json:"agent"`
	Status     pawl.Status   `json:"status"`
	Iterations int           `json:"iterations"`
	ModelCalls int           `json:"model_calls"`
	UsedTokens int           `json:"used_tokens"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
	explain.Spending
}

// showCost prints what a run cost: the part of the report of pawl explain.
func (a *app) showCost(r explain.Report) error {
	if a.json {
		return printJSON(a.out, cost{Run: r.Run, Agent: r.Agent, Status: r.Status, Iterations: r.Iterations, ModelCalls: r.Usage.ModelCalls,
			UsedTokens: r.Usage.Input + r.Usage.Output, CostUSD: r.CostUSD, Spending: r.Spending})
	}
	w := a.page()
	if _, err := io.WriteString(w, r.CostMarkdown()); err != nil {
		return err
	}
	return w.Close()
}

// usd formats an amount of dollars; a dash if it is unknown.
func usd(v *pawl.Decimal) string {
	switch {
	case v == nil:
		return "–"
	case *v >= 100:
		return fmt.Sprintf("$%.2f", *v)
	}
	return display.Dollars(float64(*v))
}
