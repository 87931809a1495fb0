package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// The keywords and text formats that Anthropic guarantees.
var (
	promised = []string{"$defs", "additionalProperties", "allOf", "anyOf", "const", "description", "enum", "format", "items", "minItems", "pattern", "properties", "required", "title", "type"}
	formats  = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)

// Promise returns a schema in the form that models of Anthropic guarantee. They guarantee only
// closed objects, so there is none of a schema with an open one: the model could not write all
// that the schema allows.
func Promise(schema json.RawMessage) (map[string]any, bool) {
	var doc map[string]any
	if wire.Unmarshal(schema, &doc) != nil || doc["type"] != "object" {
		return nil, false
	}
	return doc, promise(doc)
}

// promise converts a schema, recursively, to the form that the API takes, and
// reports whether that is possible. Keywords without a guarantee go into the
// description.
func promise(schema any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		_, ok = schema.(bool)
		return ok
	}
	if s["anyOf"] == nil && s["oneOf"] != nil {
		s["anyOf"] = s["oneOf"]
		delete(s, "oneOf")
	}
	var within []any
	for _, k := range []string{"$defs", "properties"} {
		named, _ := s[k].(map[string]any)
		within = slices.AppendSeq(within, maps.Values(named))
	}
	for _, k := range []string{"allOf", "anyOf"} {
		list, _ := s[k].([]any)
		within = append(within, list...)
	}
	if s["items"] != nil {
		within = append(within, s["items"])
	}
	if slices.ContainsFunc(within, func(e any) bool { return !promise(e) }) {
		return false
	}
	props, _ := s["properties"].(map[string]any)
	kind, typed := s["type"].(string)
	open, said := s["additionalProperties"].(bool)
	switch {
	case s["$ref"] != nil, s["patternProperties"] != nil, s["oneOf"] != nil, s["additionalProperties"] != nil && (!said || open):
		return false
	case kind == "object" && len(props) == 0:
		return false
	case kind == "object":
		s["additionalProperties"] = false
	case s["type"] != nil && !typed, s["type"] == nil && s["allOf"] == nil && s["anyOf"] == nil && s["const"] == nil && s["enum"] == nil:
		return false
	}
	var rest []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		v := s[k]
		if slices.Contains(promised, k) && (k != "format" || slices.Contains(formats, v)) && (k != "minItems" || v == json.Number("0") || v == json.Number("1")) {
			continue
		}
		said, ok := v.(string)
		if !ok {
			said = string(Marshal(v))
		}
		rest = append(rest, k+": "+said)
		delete(s, k)
	}
	if len(rest) > 0 {
		about, _ := s["description"].(string)
		s["description"] = strings.TrimSpace(about + "\n\n{" + strings.Join(rest, ", ") + "}")
	}
	return true
}

// Told returns a system prompt with the schema of the answer, for a request that cannot have the
// schema in a field of its own.
func Told(system string, schema json.RawMessage) string {
	return strings.TrimSpace(system + "\n\nThe final answer must be JSON that fits this schema, and nothing else:\n" + string(schema))
}
