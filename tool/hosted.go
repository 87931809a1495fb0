package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
)

// The names of the hosted tools.
const (
	WebSearch     = "web_search"
	CodeExecution = "code_execution"
)

// HostedOptions are the optional parts of a hosted tool. The zero value is right.
type HostedOptions struct {
	// MaxCalls is how often it may be used in one reply; zero: 5. The limits of the run
	// set the price of so many uses aside before each request.
	MaxCalls int `json:"max_calls,omitempty" usual:"5" about:"uses in one reply; limits reserve their price"`
	// MaxOutput is how much of a result the log keeps, its beginning and its end; zero:
	// 32 KiB. It is also what a result is expected to have: a token for three bytes of it
	// are set aside for each use.
	MaxOutput int `json:"max_output,omitempty" format:"size" usual:"32KB" about:"size of a result that the log keeps and limits expect"`
	// Trust is the trust in the results; zero: [pawl.Untrusted].
	Trust pawl.Trust `json:"trust,omitempty" enum:"trusted,untrusted" usual:"untrusted" about:"trust in the results, for the [data-flow guard](governance.md#data-flow)"`
}

// Hosted declares a tool that the provider of the model runs while the model replies: WebSearch
// or CodeExecution. Each use becomes a call of the run that has its result already, so no
// policy, approval or hook can stop it. The price of the model has the price of a use.
func Hosted(name string, o *HostedOptions) pawl.Tool {
	o = cmp.Or(o, &HostedOptions{})
	calls, output := cmp.Or(o.MaxCalls, 5), cmp.Or(o.MaxOutput, 32<<10)
	adds := pawl.Usage{Input: calls * output / 3, Searches: calls}
	if name != WebSearch {
		adds.Searches, adds.Sessions = 0, 1
	}
	return hosted{pawl.ToolInfo{Name: name, Effect: pawl.Read, Hosted: adds, MaxCalls: calls, MaxOutput: output, Trust: cmp.Or(o.Trust, pawl.Untrusted)}}
}

type hosted struct{ info pawl.ToolInfo }

// Info returns the declaration.
func (h hosted) Info() pawl.ToolInfo { return h.info }

// Run always fails: this process has nothing to run.
func (hosted) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("this tool is run by the provider of the model")
}

// A Host is a [pawl.Model] whose provider may run hosted tools. Hosts returns an error if
// it does not run one of the tools that are hosted, beside the others. The provider of a
// model that is no Host runs none.
type Host interface {
	Hosts(tools []pawl.ToolInfo) error
}

// Hosts asks a model whether its provider runs the hosted tools among the given ones; see
// [Host].
func Hosts(m pawl.Model, tools []pawl.ToolInfo) error {
	if h, ok := m.(Host); ok {
		return h.Hosts(tools)
	}
	for _, t := range tools {
		if t.Hosted != (pawl.Usage{}) {
			return fmt.Errorf("%s does not run %s itself; models of anthropic, openai and google do", name(m), t.Name)
		}
	}
	return nil
}

func name(m pawl.Model) string {
	if d, ok := m.(pawl.Describer); ok {
		return d.Describe().Name
	}
	return "the model"
}

// Check implements [pawl.Checker]: every model of the agent runs the tool, at a known price
// if dollars are limited.
func (h hosted) Check(a pawl.Agent) error {
	if h.info.Name != WebSearch && h.info.Name != CodeExecution {
		return fmt.Errorf("tool %q: no provider runs it; use %s or %s", h.info.Name, WebSearch, CodeExecution)
	}
	if a.Strategy == pawl.StrategyJSON {
		return fmt.Errorf("tool %q: the json strategy offers no hosted tools; use native", h.info.Name)
	}
	var tools []pawl.ToolInfo
	for _, t := range a.Tools {
		tools = append(tools, t.Info())
	}
	for _, m := range append([]pawl.Model{a.Model}, a.Fallback...) {
		if m == nil {
			continue // which is reported as such
		}
		if err := Hosts(m, tools); err != nil {
			return fmt.Errorf("tool %q: %w", h.info.Name, err)
		}
		d, ok := m.(pawl.Describer)
		if !ok || a.Limits.Cost == 0 || h.info.Name != WebSearch {
			continue
		}
		if p := d.Describe().Price; p != nil && p.Search == 0 {
			return fmt.Errorf("tool %q: dollars are limited, but the price of %s does not say what a search costs; set Search, in a spec web_search", h.info.Name, name(m))
		}
	}
	return nil
}
