package workflow_test

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// number is a tool that returns a number.
func number(n float64) pawl.Tool {
	return tool.Func("number", "Return a number.", func(context.Context, struct{}) (float64, error) { return n, nil }, pawl.Read)
}
