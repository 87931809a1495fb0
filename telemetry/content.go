package telemetry

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// message is a message in the form of the conventions.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// said is a message of one text, without secrets.
func said(key, role, content string) attribute.KeyValue {
	return written(key, []message{{Role: role, Parts: []part{{Type: "text", Content: content}}}})
}

// spoken is a model's reply, without parts that only the provider may read.
func spoken(r pawl.Reply) attribute.KeyValue {
	m := message{Role: "assistant", Finish: finish(r)}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case pawl.Text:
			m.Parts = append(m.Parts, part{Type: "text", Content: p.Text})
		case pawl.Thinking:
			m.Parts = append(m.Parts, part{Type: "reasoning", Content: p.Text})
		case pawl.Call:
			m.Parts = append(m.Parts, part{Type: "tool_call", ID: p.ID, Name: p.Tool, Arguments: p.Args})
		}
	}
	return written(keyOutputMessages, []message{m})
}

func written(key string, value any) attribute.KeyValue {
	raw, err := json.Marshal(value)
	if err != nil { // arguments that are not JSON
		return text(key, "")
	}
	return text(key, string(redact.JSON(raw)))
}
