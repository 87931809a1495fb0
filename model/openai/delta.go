package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A delta is what an event adds to the reply.
type delta struct {
	Content          prose             `json:"content"`
	Refusal          prose             `json:"refusal"`
	Reasoning        prose             `json:"reasoning"`
	ReasoningContent prose             `json:"reasoning_content"`
	Details          []json.RawMessage `json:"reasoning_details"`
	Extra            json.RawMessage   `json:"extra_content"`
	Annotations      []json.RawMessage `json:"annotations"`
	Calls            []fragment        `json:"tool_calls"`
	Function         *signature        `json:"function_call"` // an older form of a call
}

// A prose is text in any of the forms that servers give it: a string, null, an object, or a list
// of strings and objects, some of which are thinking.
type prose struct{ text, thinking, refusal string }

func (p prose) all() string { return p.thinking + p.text }

// UnmarshalJSON takes what it can read of a value.
func (p *prose) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*p = prose{}
	p.add(v, "")
	return nil
}

func (p *prose) add(v any, kind string) {
	switch v := v.(type) {
	case string:
		switch {
		case strings.Contains(kind, "think") || strings.Contains(kind, "reason"):
			p.thinking += v
		case kind == "refusal":
			p.refusal += v
		default:
			p.text += v
		}
	case []any:
		for _, item := range v {
			p.add(item, kind)
		}
	case map[string]any:
		if own, ok := v["type"].(string); ok && own != "text" {
			kind = own
		}
		for _, key := range []string{"text", "content", "thinking", "reasoning", "refusal"} {
			if v[key] != nil {
				p.add(v[key], kind)
				return
			}
		}
	}
}

// A fragment is a part of a call. Extra is what a server wants back with the call.
type fragment struct {
	Index    *int      `json:"index"`
	ID       string    `json:"id"`
	Function signature `json:"function"`
	Extra    map[string]json.RawMessage
}

type signature struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// UnmarshalJSON also takes an id that is a number, and keeps the fields of others that go back.
func (f *fragment) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*f = fragment{}
	if json.Unmarshal(fields["index"], &f.Index) != nil {
		f.Index = nil
	}
	f.ID = plain(fields["id"])
	for _, name := range []string{"extra_content", "thought_signature", "signature", "provider_specific_fields"} {
		if v := fields[name]; v != nil && string(v) != "null" {
			if f.Extra == nil {
				f.Extra = map[string]json.RawMessage{}
			}
			f.Extra[name] = v
		}
	}
	if fn := fields["function"]; fn != nil {
		return json.Unmarshal(fn, &f.Function)
	}
	return nil
}

// arguments are a text, in pieces or whole, or the object itself.
type arguments string

// UnmarshalJSON takes a text as its value, null as nothing, and anything else as it is written.
func (a *arguments) UnmarshalJSON(b []byte) error {
	var s *string
	switch err := json.Unmarshal(b, &s); {
	case err != nil:
		*a = arguments(b)
	case s != nil:
		*a = arguments(*s)
	}
	return nil
}

// plain returns the text of a JSON string, or a number as it is written; empty: null or nothing.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// call adds a fragment to its call. A new call has a name, and one that differs from the last in
// its id, or comes after complete arguments. Everything else continues a call: that of its id,
// else of its index, else the one that was begun last. Servers repeat names and ids, change ids,
// number every call 0, send the head of a call under one index and its arguments under another,
// and cut names in two.
func (t *turn) call(f fragment) *part {
	p := t.continued(f)
	if p == nil {
		p = &part{kind: "call", index: f.Index}
		t.parts = append(t.parts, p)
	}
	p.id = cmp.Or(p.id, f.ID)
	if name := f.Function.Name; name != "" && name != p.name && p.text.Len() == 0 {
		p.name += name
	}
	args := string(f.Function.Arguments)
	if p.text.Len() < 64 && strings.TrimSpace(p.text.String()) == "{}" && strings.HasPrefix(strings.TrimSpace(args), "{") { // the first was an empty place
		p.text.Reset()
	}
	p.write(args)
	for name, value := range f.Extra {
		if p.extra == nil {
			p.extra = map[string]json.RawMessage{}
		}
		p.extra[name] = value
	}
	return p
}

// mostOpen is how many of the last parts a fragment may continue.
const mostOpen = 256

// continued returns the call that a fragment continues; nil: it begins one.
func (t *turn) continued(f fragment) *part {
	var last, same, own *part // the last call, that with the index, and that with the id
	for _, p := range t.parts[max(0, len(t.parts)-mostOpen):] {
		if p.kind != "call" {
			continue
		}
		last = p
		if f.Index != nil && p.index != nil && *f.Index == *p.index {
			same = p
		}
		if f.ID != "" && f.ID == p.id {
			own = p
		}
	}
	found := same
	if found == nil || f.Index == nil {
		found = last
	}
	if found == nil {
		return nil
	}
	name, args := f.Function.Name, string(f.Function.Arguments)
	switch {
	case name == "" && f.ID == "":
		if found.whole && !last.whole { // its index is wrong
			return last
		}
		return found
	case own != nil && (name == "" || name == own.name || own.name == ""):
		if elsewhere := f.Index != nil && (own.index == nil || *own.index != *f.Index); own.whole && name != "" && (args != "" || elsewhere) {
			return nil
		}
		return own
	case name == "": // an id that changes, or a head whose name comes later
		if same == nil && f.Index != nil && last.whole {
			return nil
		}
		return found
	case found.name == "":
		return found
	case found.text.Len() > 0: // a head after arguments
		if name == found.name && !found.whole && (f.Index == nil || same == found) {
			return found // its name is repeated
		}
		return nil
	case f.ID != "" && found.id != "" && f.ID != found.id, f.Index != nil && same == nil:
		return nil
	case name == found.name:
		return found
	case t.offers(found.name+name) || !t.offers(found.name) && !t.offers(name) && f.ID == "" && same != nil && args == "":
		return found // the rest of its name
	}
	return nil
}

// offers reports whether the request has a tool of this name.
func (t *turn) offers(name string) bool {
	return slices.ContainsFunc(t.tools, func(i pawl.ToolInfo) bool { return provider.Name(i.Name) == name })
}

// texts are the pieces of a text. They are joined once: to join them at each piece takes minutes for thousands.
type texts []string

func (t texts) MarshalJSON() ([]byte, error) { return provider.Marshal(strings.Join(t, "")), nil }

// merge joins details of thinking, of which a server sends the texts in pieces. Those of one
// index and type are one.
func merge(pieces []json.RawMessage) (list []map[string]any) {
	last := ""
	for _, raw := range pieces {
		var next map[string]json.RawMessage
		if json.Unmarshal(raw, &next) != nil || next == nil {
			continue
		}
		if is := string(next["type"]) + " " + string(next["index"]); len(list) == 0 || is != last || next["index"] == nil && next["text"] == nil {
			last, list = is, append(list, map[string]any{})
		}
		one := list[len(list)-1]
		for key, value := range next {
			if text := plain(value); text != "" && (key == "text" || key == "summary") {
				before, _ := one[key].(texts)
				one[key] = append(before, text)
			} else if one[key] == nil || text != "" {
				one[key] = value
			}
		}
	}
	return list
}

// detailText returns the text that details show.
func detailText(list []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range list {
		var d struct{ Text, Summary string }
		_ = json.Unmarshal(raw, &d) // the others are encrypted
		b.WriteString(d.Text + d.Summary)
	}
	return b.String()
}

// nestedCitation reads an annotation of Chat Completions, which has its fields within.
func nestedCitation(raw json.RawMessage, model string) pawl.Citation {
	var within struct {
		URL json.RawMessage `json:"url_citation"`
	}
	if json.Unmarshal(raw, &within) == nil && within.URL != nil {
		raw = within.URL
	}
	c := citation(raw, model)
	c.Opaque = nil // there is no place for it in a request
	return c
}
