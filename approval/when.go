package approval

import (
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// When requires approval for calls of the tools that match the pattern, if the
// predicate holds for their arguments, as in
//
//	approval.When("submit_po", `args.amount > 100 || args.vendor != "acme"`)
//
// The predicate is an expression over args, as in a tool_called condition. It
// fails closed: a call is asked about if the predicate cannot be decided,
// because an argument is missing or null (unless it is compared with null) or
// has another type than the value it is compared with. The rest of the
// predicate may still decide: args.kind == "gift" && args.amount > 100 does not
// ask about a call of another kind that has no amount.
func When(pattern, predicate string) pawl.Policy {
	tree, err := expr.Parse(predicate)
	if err == nil {
		err = checkPredicate(tree)
	}
	source := predicate
	if err == nil {
		source = tree.String()
	}
	return &rule{
		source: "approval_when(" + expr.Quote(pattern) + ", " + source + ")",
		does:   pawl.CallAsk,
		check:  func(a pawl.Agent) error { return wantPredicate(a, pattern, tree, err) },
		applies: func(_ *pawl.State, d pawl.Classified) string {
			if naming.OfMachine(d.Call.Tool) || !naming.Match(pattern, d.Call.Tool) {
				return ""
			}
			if err != nil { // checking the agent reports it
				return pattern + " needs approval when " + source + ", which means nothing"
			}
			switch holds, why := decide(tree, d.Call.Args); {
			case why != "":
				return pattern + " needs approval when " + source + ", which cannot be told: " + why
			case holds:
				return pattern + " needs approval when " + source
			}
			return ""
		},
	}
}

// decide evaluates a predicate for the arguments of a call. why says why it cannot be
// decided; empty: it is.
func decide(tree expr.Node, args json.RawMessage) (holds bool, why string) {
	var value any
	if err := wire.Unmarshal(args, &value); err != nil {
		return false, "the arguments are no JSON"
	}
	holds, err := expr.Holds(tree, expr.Env{Values: map[string]expr.Value{"args": value}, Strict: true})
	if fault, ok := errors.AsType[*expr.Error](err); ok {
		return false, fault.Message
	}
	return holds, ""
}
