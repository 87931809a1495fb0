package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// The model reads what a tool printed before its time was over.
func TestPartialOutput(t *testing.T) {
	command := tool.Command("counter", "Count.", []string{"/bin/sh", "-c", "echo one, two; exec sleep 60"}, &tool.CommandOptions{Effect: pawl.Read, Timeout: 300 * time.Millisecond})
	halfway := fake{name: "halfway", effect: pawl.Read, limit: 50 * time.Millisecond, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
		<-ctx.Done()
		return pawl.Output{JSON: json.RawMessage(`"one, two"`)}, ctx.Err()
	}}
	for _, counting := range []pawl.Tool{halfway, command} {
		var read string
		agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{counting}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if last := r.Messages[len(r.Messages)-1].Parts[0]; len(r.Messages) > 1 {
				read = last.(pawl.ToolResult).Text()
				return pawl.Say("done"), nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: counting.Info().Name, Args: json.RawMessage(`{}`)}}}, nil
		})}
		if r, err := engine.Run(t.Context(), agent, "go"); err != nil || r.Err() != nil {
			t.Fatal(r.Verdict, err)
		}
		if !strings.HasPrefix(read, "timed out: no result within ") || !strings.HasSuffix(read, ": one, two") {
			t.Errorf("%s: the model reads %q", counting.Info().Name, read)
		}
	}
}
