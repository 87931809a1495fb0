package server

import (
	"net/http"
	"time"

	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/server/client"
)

var budgetsRoute = route{
	method: http.MethodGet, path: "/v1/budgets", name: "budgets", summary: "List what budgets have spent", scope: Read,
	query: []parameter{{"all", "true: also those of earlier periods"}},
	reply: client.Budgets{}, do: (*Server).budgets,
}

// budgets lists the accounts that a key may see: one with labels sees its own.
func (s *Server) budgets(x *exchange) (any, error) {
	out := client.Budgets{Budgets: []client.Budget{}}
	ledger, ok := s.journal.(budget.Ledger)
	if !ok {
		return out, nil
	}
	for b, err := range client.BudgetsOf(x.Context(), ledger, time.Now(), x.URL.Query().Get("all") == "true") {
		if err != nil {
			return nil, err
		}
		if value, own := x.key.Labels[b.Label]; len(x.key.Labels) > 0 && (!own || value != b.Value) {
			continue
		}
		b.Value = redact.Text(b.Value)
		out.Budgets = append(out.Budgets, b)
	}
	return out, nil
}
