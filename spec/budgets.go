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

// budgets adds the budgets of a list to others.
func (d *document) budgets(n *node, list, all []budget.Budget) []budget.Budget {
	for i, b := range list {
		if at := n.items[i]; !at.wrong { // else too little is left to compare
			all = d.addBudget(all, b, at)
		}
	}
	return all
}

// Budgets are the budgets of the policy, which hold for all runs under it together.
func (p *Policy) Budgets() []budget.Budget { return slices.Clone(p.budgets) }
