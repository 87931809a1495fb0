package spec

import (
	"slices"

	"github.com/pawl-run/pawl/budget"
)

// addBudget adds a budget to others, which it may not contradict.
func (d *document) addBudget(all []budget.Budget, b budget.Budget, at *node) []budget.Budget {
	more := append(slices.Clip(all), b)
	if err := budget.Check(more); err != nil {
		d.problem(at, "%v", err)
		return all
	}
	return more
}

// budgets returns the budgets of a list.
func (d *document) budgets(list []budgetSpec, all []budget.Budget) []budget.Budget {
	for _, w := range list {
		if !w.n.wrong { // else too little is left to compare
			all = d.addBudget(all, budget.Budget{Label: w.Label, Per: w.Per, Cost: w.Cost, Tokens: w.Tokens, Wait: w.Then == "wait"}, w.n)
		}
	}
	return all
}

// Budgets are the budgets of the policy, which hold for all runs under it together.
func (p *Policy) Budgets() []budget.Budget { return slices.Clone(p.budgets) }
