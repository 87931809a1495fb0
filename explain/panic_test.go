package explain_test

import "github.com/pawl-run/pawl"

// basketless is a condition that panics once something was called.
type basketless struct{}

func (basketless) String() string { return "iterations >= 9" }

func (basketless) Eval(s *pawl.State) pawl.Verdict {
	if s.ToolCalls() > 0 {
		panic("there is no basket")
	}
	return pawl.Verdict{}
}
