package google

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// The API's limits on files (https://ai.google.dev/gemini-api/docs/image-understanding,
// document-processing and audio): 20 MB per request, part of which is for the
// rest of the request.
var limits = provider.Limits{
	Types: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
	Files: []string{media.PDF, "audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"},
	Count: 3600,
	Total: 16 << 20,
}

// A documented signature for calls that the model did not make
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
const unsigned = "skip_thought_signature_validator"

// goOn follows a turn of the model that is the last one, as after a pause of another provider:
// models since Gemini 3.6 refuse a request that ends with their own turn.
const goOn = "Go on."

// A content is a message; its parts are of type part, or unchanged.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type part map[string]any

// contents joins consecutive messages of one role into one content.
func (m *Model) contents(msgs []pawl.Message) []content {
	list := []content{}
	for role, parts := range limits.Turns(msgs) {
		c := content{Role: "user"}
		if role == pawl.RoleAssistant {
			c.Role, c.Parts = "model", m.assistant(parts)
		} else {
			c.Parts = m.user(parts)
		}
		if len(c.Parts) > 0 {
			list = append(list, c)
		}
	}
	if n := len(list); n > 0 && list[n-1].Role == "model" {
		list = append(list, content{"user", []any{part{"text": goOn}}})
	}
	return list
}

func (m *Model) assistant(parts []pawl.Part) []any {
	var list []any
	var held map[string]json.RawMessage // fields of the next part, by its kind
	called := false
	add := func(kind string, value any) {
		p := part{kind: value}
		var rest map[string]json.RawMessage
		if json.Unmarshal(held[kind], &rest) == nil {
			for k, v := range rest {
				p[k] = v
			}
		}
		if kind == "functionCall" && !called {
			called = true
			if p["thoughtSignature"] == nil && m.server.Traits.Signed {
				p["thoughtSignature"] = unsigned
			}
		}
		held = nil
		list = append(list, p)
	}
	for _, each := range parts {
		switch each := each.(type) {
		case pawl.Text:
			if strings.TrimSpace(each.Text) != "" {
				add("text", each.Text)
			}
		case pawl.Thinking:
			held = nil
			if !m.server.Recalls(each) || !provider.Opaque(each.Opaque) || json.Unmarshal(each.Opaque, &held) != nil {
				continue
			}
			if whole := held["part"]; whole != nil {
				list = append(list, whole)
			}
		case pawl.Call:
			add("functionCall", part{"id": cmp.Or(each.ID, each.Ref), "name": provider.Name(each.Tool), "args": provider.Object(each.Args)})
		}
	}
	return list
}

func (m *Model) user(parts []pawl.Part) []any {
	var results, pictures, rest []any
	for _, each := range parts {
		switch each := each.(type) {
		case pawl.ToolResult:
			r := part{"id": cmp.Or(each.Call, each.Ref), "name": provider.Name(each.Tool), "response": response(each)}
			var images []any
			for _, img := range each.Images {
				images = append(images, picture(img))
			}
			switch {
			case len(images) == 0:
			case m.server.Traits.Mixed:
				r["parts"] = images
			default:
				pictures = append(append(pictures, part{"text": "Images of the result of " + each.Tool + ":"}), images...)
			}
			results = append(results, part{"functionResponse": r})
		case pawl.Text:
			if strings.TrimSpace(each.Text) != "" {
				rest = append(rest, part{"text": each.Text})
			}
		case pawl.File:
			rest = append(rest, picture(each))
		}
	}
	all := slices.Concat(results, pictures, rest)
	if len(all) == 0 { // a turn must not disappear
		all = append(all, part{"text": provider.Empty})
	}
	return all
}

// response returns a result as the object that the API requires.
func response(r pawl.ToolResult) part {
	var value any = string(r.Content)
	if json.Valid(r.Content) {
		value = provider.Document(r.Content)
	}
	if r.Failed {
		return part{"error": value}
	}
	return part{"output": value}
}

func picture(f pawl.File) part {
	kind := f.Type
	if kind == "audio/mpeg" { // as the API calls it
		kind = "audio/mp3"
	}
	return part{"inlineData": part{"mimeType": kind, "data": f.Data}}
}
