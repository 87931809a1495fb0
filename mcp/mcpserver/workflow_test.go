package mcpserver

import (
	"context"
	"slices"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// A workflow is served as an agent, and so are its tools; what its steps run in
// child runs is nobody else's to call.
func TestWorkflow(t *testing.T) {
	double := tool.Func("double", "Double a number.", func(_ context.Context, in number) (number, error) { return number{2 * in.N}, nil }, pawl.Read)
	each := workflow.Step{ID: "each", ForEach: "input", Do: []workflow.Step{{ID: "one", Tool: "double", Args: map[string]any{"n": "{{item}}"}}}}
	w := &world{agent: workflow.New(pawl.Agent{Name: "flow", Tools: []pawl.Tool{double}}, each)}
	w.open(t)
	c := w.connect(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	must(t, err)
	var names []string
	for _, one := range list.Tools {
		names = append(names, one.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"double", "flow"}) {
		t.Errorf("served are %v", names)
	}
	if text, _, failed := call(t, c, "flow", `{"input":"[1,2]"}`); failed || text != `[{"n":2},{"n":4}] [{"n":2},{"n":4}]` {
		t.Errorf("the workflow says %s", text)
	}
	if text, _, failed := call(t, c, "double", `{"n":4}`); failed || text != `{"n":8} {"n":8}` {
		t.Errorf("its tool says %s", text)
	}
}
