package stop

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// located returns want's objection with the name of the leaf and, for parsed
// source, its column.
func located(at expr.Node, source string, want func(pawl.Agent) error) func(pawl.Agent) error {
	if want == nil {
		return nil
	}
	return func(a pawl.Agent) error {
		if err := want(a); err != nil {
			return expr.Errorf(at.Column(), "%s can never hold: %v", source, err)
		}
		return nil
	}
}

// wantConfidence looks for what sets a confidence: the __complete__ tool, or a
// policy or loop with a method SetsConfidence() bool that reports true.
func wantConfidence(a pawl.Agent) error {
	if a.Builtins || a.Strategy == pawl.StrategyJSON {
		return nil
	}
	parts := []any{a.Loop}
	for _, p := range a.Policies {
		parts = append(parts, p)
	}
	for _, part := range parts {
		if c, ok := part.(interface{ SetsConfidence() bool }); ok && c.SetsConfidence() {
			return nil
		}
	}
	return errors.New("nothing in the agent sets a confidence (add a reflexion policy, or the built-in tools for __complete__)")
}

func wantGoal(a pawl.Agent) error {
	if a.Goal != nil {
		return nil
	}
	return errors.New("the agent has no goal, so nothing is measured (set Goal)")
}

func wantPrice(a pawl.Agent) error {
	d, ok := a.Model.(pawl.Describer)
	if !ok {
		return errors.New("the model does not say what it is, so it has no price")
	}
	if info := d.Describe(); info.Price == nil {
		return fmt.Errorf("the model %s has no price", info.Name)
	}
	return nil
}

func wantTool(name string) func(pawl.Agent) error {
	return func(a pawl.Agent) error {
		_, err := findTool(a, name)
		return err
	}
}

// findTool returns the declaration of a tool; that of a built-in one is empty.
func findTool(a pawl.Agent, name string) (pawl.ToolInfo, error) {
	var names []string
	for _, t := range a.Tools {
		info := t.Info()
		if info.Name == name {
			return info, nil
		}
		names = append(names, info.Name)
	}
	if slices.Contains(machineTools(a), name) {
		return pawl.ToolInfo{}, nil
	}
	return pawl.ToolInfo{}, fmt.Errorf("the agent has no tool %s%s", name, expr.DidYouMean(name, append(names, machineTools(a)...)))
}

// machineTools lists the names of the tools that the machine adds to an agent's
// own.
func machineTools(a pawl.Agent) []string {
	switch {
	case a.Builtins:
		return []string{"__complete__", "__pause_for_human__", "__store_memory__", "__retrieve_memory__", "__log_progress__"}
	case a.Strategy == pawl.StrategyJSON:
		return []string{"__complete__", "__pause_for_human__"}
	}
	return nil
}

// wantArguments requires that the tool exists and declares the arguments the
// predicate uses, if its schema allows no others.
func wantArguments(tool string, predicate expr.Node) func(pawl.Agent) error {
	return func(a pawl.Agent) error {
		info, err := findTool(a, tool)
		if err != nil {
			return err
		}
		if info.Input == nil { // a built-in tool, or one without arguments
			return nil
		}
		if errs := expr.Undeclared(tool, info.Input, predicate); len(errs) > 0 {
			return errors.New(errs[0].Message)
		}
		return nil
	}
}

func unregistered(name *expr.String, o *Options) error {
	return expr.Errorf(name.Column(), "no condition %s is registered%s", name.Value, expr.DidYouMean(name.Value, slices.Collect(maps.Keys(o.When))))
}
