package server

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/server/client"
)

// requestOf converts a request for clients.
func requestOf(r engine.Sent) client.Request {
	out := client.Request{
		Run: r.Entry.Run, Seq: r.Entry.Seq, Previous: r.Previous, Iteration: r.Entry.Iteration,
		Purpose: r.Purpose, Attempt: r.Attempt, Step: redact.Text(r.Step), Model: r.Model.Name,
		System: redact.Text(r.System), Messages: []client.Message{}, Tools: []client.OfferedTool{},
		Output: redact.JSON(r.Output), MaxTokens: r.MaxTokens, ReservedTokens: r.Called.Reserved, Masked: []string{},
		Sampling: client.Sampling{Effort: r.Sampling.Effort},
	}
	if t := r.Sampling.Temperature; t != 0 {
		out.Sampling.Temperature = new(max(t, 0)) // a negative value stands for an explicit zero
	}
	for name, value := range r.Sampling.Options {
		if out.Sampling.Options == nil {
			out.Sampling.Options = map[string]json.RawMessage{}
		}
		out.Sampling.Options[name] = redact.JSON(value)
	}
	if !r.Called.View.Alone {
		out.Masked = append(out.Masked, r.Masked...)
		out.Summary = redact.Text(r.State.Summary())
	}
	for i, m := range r.Messages {
		out.Messages = append(out.Messages, client.Message{
			Role: m.Role.String(), Parts: partsOf(m, r.Masked), Cache: slices.Contains(r.Marks, i+1),
		})
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, client.OfferedTool{Name: t.Name, Description: redact.Text(t.Description), Input: redact.JSON(t.Input)})
	}
	return out
}

func partsOf(m pawl.Message, masked []string) []client.MessagePart {
	parts := []client.MessagePart{}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case pawl.Text:
			parts = append(parts, client.MessagePart{Type: "text", Text: redact.Text(p.Text)})
		case pawl.Thinking:
			parts = append(parts, client.MessagePart{Type: "thinking", Text: redact.Text(p.Text)})
		case pawl.Citation:
			parts = append(parts, client.MessagePart{Type: "citation", Text: redact.Text(p.Quote), Title: redact.Text(p.Title), URL: redact.Text(p.URL)})
		case pawl.Call:
			parts = append(parts, client.MessagePart{Type: "call", Call: p.ID, Tool: p.Tool, Args: redact.JSON(p.Args)})
		case pawl.ToolResult:
			parts = append(parts, client.MessagePart{
				Type: "result", Call: p.Call, Tool: p.Tool, Text: redact.Text(pawl.ToolResult{Content: redact.JSON(p.Content)}.Text()),
				Error: p.Failed, Masked: slices.Contains(masked, p.Call),
			})
			for _, image := range p.Images {
				parts = append(parts, client.MessagePart{Type: "image", Media: image.Type, Bytes: len(image.Data)})
			}
		case pawl.File:
			parts = append(parts, client.MessagePart{Type: "file", Text: fmt.Sprintf("%s: %s, %d bytes", redact.Text(p.Name), p.Type, p.Bytes), Media: p.Type, Bytes: p.Bytes})
		}
	}
	return parts
}
