package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
)

// Empty replaces an empty turn or result, which some servers refuse.
const Empty = "(empty)"

// Limit returns the most tokens of the reply to a request. Where nothing is said, it leaves room
// for a model that thinks.
func (s *Server) Limit(r pawl.Request) int {
	const usual = 16384
	limit := cmp.Or(max(r.MaxTokens, 0), max(r.Sampling.MaxTokens, 0), usual)
	if most := s.Traits.Reply; most > 0 {
		return min(limit, most)
	}
	return limit
}

// Merge puts the sampling options into a request under their own names: each
// replaces a field of the request, and null removes it. Only the run sets the
// names in owned. An option for which put returns true is not set again.
func Merge(req map[string]any, options map[string]json.RawMessage, owned []string, put func(name string, v json.RawMessage) bool) error {
	for _, k := range slices.Sorted(maps.Keys(options)) {
		v := options[k]
		switch {
		case slices.Contains(owned, k):
			return Invalid("option %s is set by the run; want another of the provider's options", k)
		case !json.Valid(v):
			return Invalid("option %s is not JSON: %s", k, v)
		case put == nil || !put(k, v):
			Put(req, k, v)
		}
	}
	return nil
}

// JSON returns a request as JSON. Keys are sorted, so that equal requests are
// equal bytes; schemas keep their order.
func JSON(req map[string]any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(req); err != nil {
		return nil, Invalid("the request has no JSON form; a schema in it may not be JSON: %v", err)
	}
	return b.Bytes(), nil
}

// Fields returns the fields of a JSON object.
func Fields(object []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, Invalid("%s is no object: %v", Clip(string(object)), err)
	}
	return fields, nil
}

// Put sets an option, or removes it if it is null.
func Put(req map[string]any, name string, v json.RawMessage) {
	if string(v) == "null" {
		delete(req, name)
	} else {
		req[name] = v
	}
}

// Turns yields the parts of consecutive messages of one role together, with
// files as the provider accepts them; see [Limits.Fit].
func (l Limits) Turns(msgs []pawl.Message) iter.Seq2[pawl.Role, []pawl.Part] {
	return func(yield func(pawl.Role, []pawl.Part) bool) {
		msgs := l.fitting(msgs)
		for i := 0; i < len(msgs); {
			role := msgs[i].Role
			var parts []pawl.Part
			for ; i < len(msgs) && msgs[i].Role == role; i++ {
				parts = append(parts, msgs[i].Parts...)
			}
			if !yield(role, parts) {
				return
			}
		}
	}
}

// fitting returns the conversation with a text in place of every file that
// cannot be sent, and the others with their actual types.
func (l Limits) fitting(msgs []pawl.Message) []pawl.Message {
	var all []pawl.File
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			switch part := part.(type) {
			case pawl.File:
				all = append(all, part)
			case pawl.ToolResult:
				all = append(all, part.Images...)
			}
		}
	}
	if len(all) == 0 {
		return msgs
	}
	sent := l.Fit(all)
	out := make([]pawl.Message, len(msgs))
	for i, msg := range msgs {
		out[i].Role = msg.Role
		for _, part := range msg.Parts {
			switch p := part.(type) {
			case pawl.File:
				if p.Type = sent[0].Type; sent[0].Why == "" {
					part = p
				} else {
					part = pawl.Text{Text: note(p, sent[0].Why)}
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

// thinned returns a result with notes in place of pictures.
func thinned(r pawl.ToolResult, sent []Sent) pawl.ToolResult {
	images, text := r.Images, r.Text()
	r.Images = nil
	for i, s := range sent {
		if s.Why == "" {
			r.Images = append(r.Images, pawl.File{Type: s.Type, Data: images[i].Data})
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += note(pawl.File{}, s.Why)
	}
	if len(r.Images) < len(images) {
		r.Content = Marshal(text)
	}
	return r
}
