package spec

import (
	"slices"

	"github.com/pawl-run/pawl/budget"
)

const budgetExample = "[{label: tenant, per: day, cost: 50}]"

// budgets reads a list of budgets, which may not contradict each other.
func (f fields) budgets(to *[]budget.Budget) {
	for _, item := range f.items("budgets", budgetExample) {
		var b budget.Budget
		before := len(f.problems)
		of := f.fields(budgetKeys, item)
		of.text("label", &b.Label)
		choose(of, "per", &b.Per)
		if of.measure("cost", &b.Cost, "50") && b.Cost == 0 {
			of.problem(item.get("cost").place, "cost is 0 (it must be above 0)")
		}
		of.count("tokens", &b.Tokens, 1, "1000000")
		b.Wait = of.word("then") == "wait"
		if len(f.problems) > before { // which leaves too little to compare
			continue
		}
		*to = append(*to, b)
		if err := budget.Check(*to); err != nil {
			f.problem(item.place, "%v", err)
			*to = (*to)[:len(*to)-1]
		}
	}
}

// share makes the budgets of a member's spec hold for the whole run.
func (s *Spec) share(f fields, file *node, sub *Spec) {
	for _, b := range sub.Budgets {
		all := append(slices.Clip(s.Budgets), b)
		switch err := budget.Check(all); {
		case err != nil:
			f.problem(file.place, "%s: %v", file.text, err)
		case !slices.Contains(s.Budgets, b):
			s.Budgets = all
		}
	}
}

// BudgetsOf returns the budgets in the source of an agent, and in those of its agents: none if
// the source is not of a spec.
func BudgetsOf(source string) []budget.Budget { return readAgain(source).Budgets }

// Budgets are the budgets of the policy, which hold for all runs under it together.
func (p *Policy) Budgets() []budget.Budget { return slices.Clone(p.budgets) }
