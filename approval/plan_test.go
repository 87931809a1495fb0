package approval_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// An agent in plan mode needs the tool that presents plans, and a loop that plans.
func TestPlanIsChecked(t *testing.T) {
	for want, change := range map[string]func(*pawl.Agent){
		"": func(a *pawl.Agent) { a.Tools = append(a.Tools, approval.PresentPlan()) },
		"there is no tool present_plan (add approval.PresentPlan())": func(*pawl.Agent) {},
		"the loop single makes no plan (use react)":                  func(a *pawl.Agent) { a.Loop, a.Tools = pawl.SingleCall{}, nil },
	} {
		a := agent("look read")
		a.Policies = []pawl.Policy{approval.Plan()}
		change(&a)
		_, err := pawl.NewMachine(a)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
