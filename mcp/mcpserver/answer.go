package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// failed returns an error result for the client's model.
func failed(run, text string) *sdk.CallToolResult {
	r := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	if run != "" {
		r.Meta = sdk.Meta{runMeta: run}
	}
	return r
}

// done returns the result of a successful call: a text as it is, anything else as JSON, an
// object also as structured content, and the pictures.
func (s *Server) done(ctx context.Context, d driven, result json.RawMessage) *sdk.CallToolResult {
	r := &sdk.CallToolResult{Meta: sdk.Meta{runMeta: d.ID}}
	var text string
	if json.Unmarshal(result, &text) != nil {
		text = string(result)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(result, &object) == nil && object != nil {
		r.StructuredContent = result
	}
	for entry, err := range engine.Entries(ctx, s.journal, d.ID, 1) {
		if err != nil {
			break // the text is there
		}
		if finished, ok := entry.Event.(pawl.ToolFinished); ok {
			for _, image := range finished.Images {
				r.Content = append(r.Content, &sdk.ImageContent{MIMEType: image.Type, Data: image.Data})
			}
		}
	}
	if len(r.Content) == 0 || string(result) != "null" { // the result may consist of pictures only
		r.Content = append([]sdk.Content{&sdk.TextContent{Text: text}}, r.Content...)
	}
	return r
}

// untold is the client's message for a failed call.
func untold(c pawl.CallState) string {
	switch c.Status {
	case pawl.ToolTimeout, pawl.ToolUnknown:
		text := fmt.Sprintf("%v: %s", c.Status, c.Error)
		if c.Effect == pawl.Write {
			text += ". Nobody knows whether it took effect: find out before doing it again"
		}
		return text
	}
	return c.Error
}

// report sends progress notifications for a call to a client that asked for them, one for
// each step of the run. The channel is closed when no more follow.
func (s *Server) report(ctx context.Context, r *sdk.CallToolRequest, h *engine.Handle) <-chan struct{} {
	told := make(chan struct{})
	token := r.Params.GetProgressToken()
	if token == nil {
		close(told)
		return told
	}
	go func() {
		defer close(told)
		for entry, err := range h.Entries(ctx) {
			if err != nil {
				return
			}
			var message string
			switch e := entry.Event.(type) {
			case pawl.ModelCalled:
				message = fmt.Sprintf("iteration %d: asking the model", entry.Iteration)
			case pawl.ToolStarted:
				message = fmt.Sprintf("iteration %d: %s", entry.Iteration, e.Tool)
			default:
				continue
			}
			// A client that does not get notifications has gone, and its call is cancelled.
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(entry.Seq), Message: message})
		}
	}()
	return told
}
