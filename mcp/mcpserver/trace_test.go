package mcpserver

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/engine"
)

// A call is part of the trace that its metadata names.
func TestCallWithinTrace(t *testing.T) {
	w := serve(t)
	c := w.connect(t, nil)
	const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "double", Arguments: json.RawMessage(`{"n":2}`), Meta: sdk.Meta{"traceparent": id}})
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	run, _ := r.Meta[runMeta].(string)
	s, err := engine.Load(t.Context(), w.journal, run)
	must(t, err)
	if start, _ := s.Start(); start.Traceparent != id {
		t.Errorf("the log of %s says %q", run, start.Traceparent)
	}
}
