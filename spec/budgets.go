package spec

import (
	"slices"

	"github.com/pawl-run/pawl/budget"
)

// budgets adds budgets to others, which may not contradict each other.
func (d *document) budgets(list []budgetSpec, all []budget.Budget) []budget.Budget {
	for _, w := range list {
		more := append(slices.Clip(all), budget.Budget{Label: w.Label, Per: w.Per, Cost: w.Cost, Tokens: w.Tokens, Wait: w.Then == "wait"})
		if w.n.wrong { // too little is left to compare
			continue
		}
		if err := budget.Check(more); err != nil {
			d.problem(w.n, "%v", err)
			continue
		}
		all = more
	}
	return all
}

// share makes the budgets of a member's spec hold for the whole run.
func (s *Spec) share(file *node, sub *Spec) {
	for _, b := range sub.Budgets {
		all := append(slices.Clip(s.Budgets), b)
		switch err := budget.Check(all); {
		case err != nil:
			s.doc.problem(file, "%s: %v", file.text, err)
		case !slices.Contains(s.Budgets, b):
			s.Budgets = all
		}
	}
}

// Budgets are the budgets of the policy, which hold for all runs under it together.
func (p *Policy) Budgets() []budget.Budget { return slices.Clone(p.budgets) }
