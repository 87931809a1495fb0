package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// A function can take a map: arguments of any name, whose values the machine
// validates like those of a struct.
func TestMapArguments(t *testing.T) {
	type limit struct {
		Max int `json:"max"`
	}
	var got map[string]limit
	set := tool.Func("set", "Set limits.", func(_ context.Context, in map[string]limit) (string, error) {
		got = in
		return "set", nil
	}, pawl.Write)
	const schema = `{"properties":{},"type":"object","additionalProperties":{"type":"object","properties":{"max":{"type":"integer"}},"required":["max"],"additionalProperties":false}}`
	if got := string(set.Info().Input); got != schema {
		t.Errorf("schema %s", got)
	}
	turn, refused := 0, ""
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn++
		switch turn {
		case 1:
			return pawl.Do(pawl.Call{Tool: "set", Args: json.RawMessage(`{"eu":{"max":1.5},"us":{"max":2}}`)}), nil
		case 2:
			refused = r.Messages[len(r.Messages)-1].Parts[0].(pawl.ToolResult).Text()
			return pawl.Do(pawl.Call{Tool: "set", Args: json.RawMessage(`{"eu":{"max":1.0},"us":{"max":2}}`)}), nil
		}
		return pawl.Say("Done."), nil
	})
	result, err := engine.Run(t.Context(), pawl.Agent{Name: "limits", Model: model, Tools: []pawl.Tool{set}}, "Set them.")
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatal(result.Verdict, err)
	}
	if !strings.Contains(refused, "eu") || !strings.Contains(refused, "max") {
		t.Errorf("refused with %q", refused)
	}
	if diff := cmp.Diff(map[string]limit{"eu": {1}, "us": {2}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := call[map[string]any](t, `{"a":[1.0,"x"],"b":null}`); err != nil || cmp.Diff(map[string]any{"a": []any{json.Number("1.0"), "x"}, "b": nil}, got) != "" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := call[*map[string]string](t, ``); err != nil || got == nil || len(*got) != 0 {
		t.Errorf("a pointer to no arguments: %v, %v", got, err)
	}
}
