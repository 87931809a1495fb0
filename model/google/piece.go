package google

import (
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A piece is a part of the reply being received.
type piece struct {
	kind string // "text", "thought", "functionCall" or "part"
	text strings.Builder
	call call
	rest map[string]json.RawMessage // the part's other fields
}

type call struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Args         json.RawMessage `json:"args"`
	WillContinue bool            `json:"willContinue"`
}

// grow adds a part. Consecutive parts of one kind form one piece, unless one of
// them has fields other than its text, which belong to it alone.
func (t *turn) grow(raw json.RawMessage) (pawl.Chunk, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return pawl.Chunk{}, t.Failed(pawl.ClassUnknown, "a part is unknown here: "+provider.Clip(string(raw)))
	}
	if len(fields) == 0 {
		return pawl.Chunk{}, nil
	}
	p := &piece{kind: "part", rest: fields}
	if fields["functionCall"] != nil {
		if err := json.Unmarshal(fields["functionCall"], &p.call); err != nil || p.call.WillContinue {
			return pawl.Chunk{}, t.Failed(pawl.ClassUnknown, "a call is unknown here: "+provider.Clip(string(raw)))
		}
		if p.call.Name == "" {
			return pawl.Chunk{}, t.Broken("a call without a name")
		}
		p.kind = "functionCall"
		delete(fields, "functionCall")
		t.pieces = append(t.pieces, p)
		return pawl.Chunk{Call: p.call.Name}, nil
	}
	if fields["text"] == nil && fields["thoughtSignature"] != nil && len(fields) == 1 {
		fields["text"] = json.RawMessage(`""`) // an empty text is omitted on the wire
	}
	var text string
	if json.Unmarshal(fields["text"], &text) != nil {
		t.pieces = append(t.pieces, p)
		return pawl.Chunk{}, nil
	}
	p.kind = "text"
	if string(fields["thought"]) == "true" {
		p.kind = "thought"
	}
	delete(fields, "text")
	delete(fields, "thought")
	if n := len(t.pieces); n > 0 && len(fields) == 0 && t.pieces[n-1].kind == p.kind && len(t.pieces[n-1].rest) == 0 {
		p = t.pieces[n-1]
	} else if text != "" || len(fields) > 0 {
		t.pieces = append(t.pieces, p)
	}
	p.text.WriteString(text)
	if p.kind == "thought" {
		return pawl.Chunk{Thinking: text}, nil
	}
	return pawl.Chunk{Text: text}, nil
}

// made returns the piece as a call.
func (p *piece) made() *pawl.Call {
	return &pawl.Call{Ref: p.call.ID, Tool: p.call.Name, Args: provider.Args(string(p.call.Args))}
}

// parts returns the piece in the form of the log; see the package comment.
func (p *piece) parts(model, account string) []pawl.Part {
	opaque := func(key, text string) pawl.Thinking {
		return pawl.Thinking{Text: text, Opaque: provider.Marshal(map[string]any{key: p.rest}), Model: model, Account: account}
	}
	var list []pawl.Part
	text := p.text.String()
	switch {
	case p.kind == "functionCall":
		if len(p.rest) > 0 {
			list = append(list, opaque(p.kind, ""))
		}
		return append(list, *p.made())
	case p.kind == "thought":
		p.rest["thought"], p.rest["text"] = json.RawMessage("true"), provider.Marshal(text)
		return append(list, opaque("part", text))
	case p.kind == "part":
		return append(list, opaque("part", ""))
	case len(p.rest) == 0:
		return append(list, pawl.Text{Text: text})
	case strings.TrimSpace(text) == "": // the log keeps no empty text
		p.rest["text"] = provider.Marshal(text)
		return append(list, opaque("part", ""))
	}
	return append(list, opaque("text", ""), pawl.Text{Text: text})
}
