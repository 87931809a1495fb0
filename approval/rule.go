package approval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// rule implements every policy of this package.
type rule struct {
	source string
	does   pawl.Classification // Ask or Refuse
	check  func(pawl.Agent) error

	// applies returns the reason for a call that would run or go to the client;
	// empty: the rule does not apply.
	applies func(*pawl.State, pawl.Classified) string
}

// For requires approval for the tools that match one of the patterns.
func For(patterns ...string) pawl.Policy {
	patterns = slices.Clone(patterns)
	return &rule{
		source: "approval(" + expr.Quoted(patterns) + ")",
		does:   pawl.CallAsk,
		check:  func(a pawl.Agent) error { return wantTools(a, patterns, false) },
		applies: func(_ *pawl.State, d pawl.Classified) string {
			if p := fitting(patterns, d.Call.Tool); p != "" {
				return p + " needs approval"
			}
			return ""
		},
	}
}

// ForEffect requires approval for the tools that declare one of the effects. A
// tool that declares none is a [pawl.Write]. Sub-agents are gated tool by tool.
func ForEffect(effects ...pawl.Effect) pawl.Policy {
	effects = slices.Clone(effects)
	names := make([]string, len(effects))
	for i, e := range effects {
		names[i] = e.String()
	}
	return &rule{
		source: "approval_effect(" + strings.Join(names, ", ") + ")",
		does:   pawl.CallAsk,
		check:  func(pawl.Agent) error { return wantEffects(effects) },
		applies: func(_ *pawl.State, d pawl.Classified) string {
			e := d.Info().Effect
			if d.Info().Agent != "" {
				return "" // the calls of its run are gated there
			}
			e = cmp.Or(e, pawl.Write)
			if slices.Contains(effects, e) {
				return "every " + e.String() + " needs approval"
			}
			return ""
		},
	}
}

// Func requires approval for the calls that the function holds for. People, and
// the agent's digest, know the function by its name: put a version in the name
// and raise it when the function's meaning changes.
//
// The function must be pure and quick: it is called several times before every
// batch, and again in every replay. A panic asks for approval.
func Func(name string, f func(*pawl.State, pawl.Classified) bool) pawl.Policy {
	return &rule{
		source: "approval_func(" + expr.Quote(name) + ")",
		does:   pawl.CallAsk,
		check:  func(pawl.Agent) error { return wantFunc(name, f) },
		applies: func(s *pawl.State, d pawl.Classified) string {
			holds, panicked := ask(f, s, d)
			switch {
			case panicked: // the panic's text may differ between calls
				return expr.Quote(name) + " asks for approval, because it panicked"
			case holds:
				return expr.Quote(name) + " asks for approval"
			}
			return ""
		},
	}
}

func ask(f func(*pawl.State, pawl.Classified) bool, s *pawl.State, d pawl.Classified) (holds, panicked bool) {
	defer func() {
		if recover() != nil {
			panicked = true
		}
	}()
	return f(s, d), false
}

// Never refuses the tools that match one of the patterns, even with approval.
// The model gets the reason and can do something else.
func Never(patterns ...string) pawl.Policy {
	patterns = slices.Clone(patterns)
	return &rule{
		source: "never(" + expr.Quoted(patterns) + ")",
		does:   pawl.CallRefuse,
		check:  func(a pawl.Agent) error { return wantTools(a, patterns, true) },
		applies: func(_ *pawl.State, d pawl.Classified) string {
			if fitting(patterns, d.Call.Tool) != "" {
				return d.Call.Tool + " is denied here and cannot be approved; find another way, or say that there is none"
			}
			return ""
		},
	}
}

// String returns the rule as source.
func (r *rule) String() string { return r.source }

// Waits reports whether the agent needs a durable journal, because a person's
// decision may outlast the process.
func (r *rule) Waits() bool { return r.does == pawl.CallAsk }

// Approves reports that the agent waits only for approvals, which an approver
// in the process can give.
func (r *rule) Approves() bool { return true }

// Inherited reports that the rule also applies to sub-agents.
func (r *rule) Inherited(*pawl.State, string) bool { return true }

// Check implements [pawl.Checker].
func (r *rule) Check(a pawl.Agent) error {
	if err := r.check(a); err != nil {
		return &problem{r.source, err}
	}
	return nil
}

// Review moves the calls that the rule applies to to Ask or Refuse.
func (r *rule) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	changed := false
	for i := range act.Calls {
		d := act.Calls[i]
		if !r.concerns(d) {
			continue
		}
		why := r.applies(s, d)
		if why == "" {
			continue
		}
		if d.Do == pawl.CallAsk && r.does == pawl.CallAsk {
			if why = naming.Also(d.Why, why); why == d.Why {
				continue
			}
		}
		if !changed {
			act.Calls, changed = slices.Clone(act.Calls), true
		}
		act.Calls[i].Do, act.Calls[i].Why = r.does, why
	}
	return act
}

// concerns reports whether a call still needs a decision.
func (r *rule) concerns(d pawl.Classified) bool {
	if r.does == pawl.CallRefuse {
		return d.Do != pawl.CallRefuse
	}
	return (d.Do == pawl.CallRun || d.Do == pawl.CallHand || d.Do == pawl.CallAsk) && !naming.OfMachine(d.Call.Tool)
}

// fitting returns the first pattern that a tool matches; empty: none.
func fitting(patterns []string, tool string) string {
	for _, p := range patterns {
		if (!naming.OfMachine(tool) || naming.OfMachine(p)) && naming.Match(p, tool) {
			return p
		}
	}
	return ""
}
