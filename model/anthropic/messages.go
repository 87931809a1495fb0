package anthropic

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// The API's limits on files (its guides to vision and to PDFs): 5 MB for a
// picture in base64, and 32 MB per request, part of which is for the rest of the
// request.
var limits = provider.Limits{
	Types:    []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Files:    []string{media.PDF},
	Each:     5 << 20,
	Side:     8000,
	Count:    100,
	Total:    24 << 20,
	Many:     20,
	ManySide: 2000,
}

const longestID = 64 // of a call

type message struct {
	Content []any  `json:"content"` // of type *part, or an unchanged block
	Role    string `json:"role"`
}

// A part is a block of any type.
type part struct {
	ResultOf  string            `json:"tool_use_id,omitempty"`
	Failed    bool              `json:"is_error,omitempty"`
	ID        string            `json:"id,omitempty"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Name      string            `json:"name,omitempty"`
	Text      string            `json:"text,omitempty"`
	Citations []json.RawMessage `json:"citations,omitempty"`
	Title     string            `json:"title,omitempty"`
	Source    *source           `json:"source,omitempty"`
	Cache     *kind             `json:"cache_control,omitempty"`
	Content   []*part           `json:"content,omitempty"`
	Type      string            `json:"type"`
}

type source struct {
	Data []byte `json:"data"`
	Kind string `json:"media_type"`
	Type string `json:"type"`
}

type kind struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"` // of a mark for the cache; empty: five minutes
}

// messages returns the turns of the conversation, behind head bytes of a prompt.
//
// The API allows four marks for the cache, and searches twenty blocks back from
// each for an earlier mark. So the prompt, the last message, and the marked
// places of earlier and later requests get one.
func (c *call) messages(head int) (list []message) {
	without, ids := c.unpaired(), provider.CallIDs(c.Messages, longestID, provider.Named)
	var place []int // index in the list, by turn
	for role, parts := range limits.Turns(c.Messages) {
		if n := len(place); n > 0 {
			place[n-1] = len(list) - 1
		}
		place = append(place, 0)
		if role == pawl.RoleAssistant {
			if blocks := c.said(parts, without, ids); len(blocks) > 0 {
				list = append(list, message{Role: "assistant", Content: blocks})
			}
			continue
		}
		blocks := asked(parts, ids)
		if n := len(list); n > 0 && list[n-1].Role == "user" { // an empty turn was between them
			blocks = append(list[n-1].Content, blocks...)
			list = list[:n-1]
		}
		list = append(list, message{Role: "user", Content: blocks})
	}
	marked := []int{len(list) - 1}
	if len(place) == len(c.Messages) { // no turns were joined, which never happens in a run
		for _, n := range c.Marks[:min(len(c.Marks), 2)] {
			if n > 0 && n < len(place) && place[n-1] < len(list)-1 {
				marked = append(marked, place[n-1])
			}
		}
	}
	for i, msg := range list {
		if head < c.server.Traits.CacheFrom { // it is not known to be long enough yet
			head += size(msg.Content)
		}
		if slices.Contains(marked, i) {
			markLast(msg.Content, c.mark(head))
		}
	}
	return list
}

// size is an upper bound of the tokens of blocks, apart from those that a mark has.
func size(blocks []any) (n int) {
	const around, file = 20, 1 << 20
	for _, b := range blocks {
		n += around
		switch b := b.(type) {
		case *part:
			n += len(b.Text) + len(b.Input) + len(b.Name)
			for _, inner := range b.Content {
				n += size([]any{inner})
			}
			if b.Source != nil {
				n += file
			}
		case json.RawMessage:
			n += len(b)
		}
	}
	return n
}

// markLast marks everything up to the last block for the cache. An empty result and
// thinking cannot be marked; then the mark goes before them.
func markLast(blocks []any, cached *kind) {
	for _, b := range slices.Backward(blocks) {
		if p, ok := b.(*part); ok && (p.Type != "tool_result" || len(p.Content) > 0) {
			p.Cache = cached
			return
		}
	}
}

// said returns an assistant's turn, without some hosted calls. It must not end with thinking.
func (c *call) said(parts []pawl.Part, without map[string]bool, ids provider.IDs) (list []any) {
	end := 0
	var cited *part
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			cited = nil
			if strings.TrimSpace(p.Text) != "" {
				cited = text(p.Text)
				list = append(list, cited)
				end = len(list)
			}
		case pawl.Citation:
			if source := c.citation(p); cited != nil && source != nil {
				cited.Citations = append(cited.Citations, source)
			}
		case pawl.Thinking:
			block, thought := c.recalled(p)
			if had := read(block); block == nil || thought && !c.recall || without[cmp.Or(had.Of, had.ID)] {
				continue
			}
			if list = append(list, block); !thought {
				end = len(list)
			}
		case pawl.Call:
			list = append(list, &part{Type: "tool_use", ID: ids.Of(p.ID, p.Ref), Name: provider.Name(p.Tool), Input: provider.Object(p.Args)})
			end = len(list)
		}
	}
	return list[:end]
}

// citation returns a citation as the API takes it back, without the field that it only sends;
// nil: the model does not know it.
func (c *call) citation(p pawl.Citation) json.RawMessage {
	if c.refused("citations") || p.Model != c.server.Full || !provider.Opaque(p.Opaque) {
		return nil
	}
	fields, err := provider.Fields(p.Opaque)
	if err != nil || fields["file_id"] == nil {
		return p.Opaque
	}
	delete(fields, "file_id")
	return provider.Marshal(fields)
}

// asked returns a user's turn. Results must come first in the message that
// answers calls.
func asked(parts []pawl.Part, ids provider.IDs) []any {
	var results, rest []any
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				rest = append(rest, text(p.Text))
			}
		case pawl.ToolResult:
			results = append(results, result(p, ids))
		case pawl.File:
			rest = append(rest, file(p))
		}
	}
	if len(results)+len(rest) == 0 { // a turn must not disappear
		return []any{text(provider.Empty)}
	}
	return append(results, rest...)
}

func result(r pawl.ToolResult, ids provider.IDs) *part {
	b := &part{Type: "tool_result", ResultOf: ids.Of(r.Call, r.Ref), Failed: r.Failed}
	if s := r.Text(); strings.TrimSpace(s) != "" {
		b.Content = append(b.Content, text(s))
	}
	for _, i := range r.Images {
		b.Content = append(b.Content, file(i))
	}
	return b
}

func text(s string) *part { return &part{Type: "text", Text: s} }

func file(f pawl.File) *part {
	p := &part{Type: "image", Source: &source{f.Data, f.Type, "base64"}}
	if f.Type == media.PDF {
		p.Type, p.Title = "document", f.Name
	}
	return p
}
