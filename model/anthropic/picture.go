package anthropic

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// What the API takes of pictures (its guide to vision): 5 MB each, measured in
// base64, and 32 MB in a request, of which some are for the rest of it.
var limits = provider.Limits{
	Types:    []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Each:     5 << 20,
	Side:     8000,
	Count:    100,
	Total:    24 << 20,
	Many:     20,
	ManySide: 2000,
}

// fitting is the conversation with a text in the place of every picture that
// cannot be sent, and the others under the type they really have.
func fitting(msgs []pawl.Message) []pawl.Message {
	var all []provider.Picture
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			switch part := part.(type) {
			case pawl.Image:
				all = append(all, provider.Picture{Type: part.Type, Data: part.Data})
			case pawl.ToolResult:
				for _, i := range part.Images {
					all = append(all, provider.Picture{Type: i.Type, Data: i.Data})
				}
			}
		}
	}
	if len(all) == 0 {
		return msgs
	}
	sent := limits.Fit(all)
	out := make([]pawl.Message, len(msgs))
	for i, msg := range msgs {
		out[i] = pawl.Message{Role: msg.Role, Parts: make([]pawl.Part, 0, len(msg.Parts))}
		for _, part := range msg.Parts {
			switch p := part.(type) {
			case pawl.Image:
				if part = (pawl.Image{Type: sent[0].Type, Data: p.Data}); sent[0].Note != "" {
					part = pawl.Text{Text: sent[0].Note}
				}
				sent = sent[1:]
			case pawl.ToolResult:
				part = thinned(p, sent[:len(p.Images)])
				sent = sent[len(p.Images):]
			}
			out[i].Parts = append(out[i].Parts, part)
		}
	}
	return out
}

// thinned is a result with notes in the place of pictures.
func thinned(r pawl.ToolResult, sent []provider.Sent) pawl.ToolResult {
	images, text := r.Images, r.Text()
	r.Images = nil
	for i, s := range sent {
		if s.Note == "" {
			r.Images = append(r.Images, pawl.Image{Type: s.Type, Data: images[i].Data})
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += s.Note
	}
	if len(r.Images) < len(images) {
		r.Content = provider.Marshal(text)
	}
	return r
}
