package google

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// What the API takes of pictures (https://ai.google.dev/gemini-api/docs/image-understanding):
// 20 MB in a request, of which some are for the rest of it.
var limits = provider.Limits{
	Types: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
	Count: 3600,
	Total: 16 << 20,
}

// fitting is the conversation with a text in the place of every picture that
// cannot be sent, and the others under the type they really have.
func fitting(msgs []pawl.Message) []pawl.Message {
	var all []provider.Picture
	for _, msg := range msgs {
		for _, each := range msg.Parts {
			switch each := each.(type) {
			case pawl.Image:
				all = append(all, provider.Picture{Type: each.Type, Data: each.Data})
			case pawl.ToolResult:
				for _, i := range each.Images {
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
		out[i].Role = msg.Role
		for _, each := range msg.Parts {
			switch p := each.(type) {
			case pawl.Image:
				if each = (pawl.Image{Type: sent[0].Type, Data: p.Data}); sent[0].Note != "" {
					each = pawl.Text{Text: sent[0].Note}
				}
				sent = sent[1:]
			case pawl.ToolResult:
				each = thinned(p, sent[:len(p.Images)])
				sent = sent[len(p.Images):]
			}
			out[i].Parts = append(out[i].Parts, each)
		}
	}
	return out
}

// thinned is a result with notes in the place of pictures.
func thinned(r pawl.ToolResult, sent []provider.Sent) pawl.ToolResult {
	var images []pawl.Image
	var notes []string
	for i, s := range sent {
		if s.Note == "" {
			images = append(images, pawl.Image{Type: s.Type, Data: r.Images[i].Data})
			continue
		}
		notes = append(notes, s.Note)
	}
	r.Images = images
	if notes != nil {
		r.Content = provider.Marshal(strings.TrimSpace(r.Text() + "\n" + strings.Join(notes, "\n")))
	}
	return r
}
