package jsonschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The keywords whose values are schemas: by name, in a list, or one.
var (
	ofNamed = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	ofList  = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	ofOne   = []string{"items", "additionalProperties", "additionalItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "not", "if", "then", "else"}
)

// exact are the keywords below which a schema that accepts more makes the whole accept less.
var exact = []string{"not", "if", "oneOf"}

// Loosen removes from a decoded schema the keywords that [Compile] does not accept, so that it
// accepts no less, and returns their paths. The description gets a removed keyword that holds a
// scalar. The schema may still fail to compile as a whole, for example
// because it is too large.
func Loosen(schema map[string]any) (removed []string) {
	return loosen(schema, schema, nil)
}

func loosen(at any, whole map[string]any, path []string) (removed []string) {
	s, ok := at.(map[string]any)
	if !ok {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		here := append(slices.Clip(path), key)
		within, fits := parts(key, s[key])
		var inner []string
		for _, name := range slices.Sorted(maps.Keys(within)) {
			deeper := here
			if name != "" {
				deeper = append(slices.Clip(here), name)
			}
			if name != "" && !isSchema(within[name]) {
				within[name] = true
				inner = append(inner, join(deeper))
			}
			inner = append(inner, loosen(within[name], whole, deeper)...)
		}
		if fits && (len(inner) == 0 || !slices.Contains(exact, key)) && refers(key, s[key], whole) {
			removed = append(removed, inner...)
			continue
		}
		removed = append(removed, join(here))
		if said, ok := scalar(s[key]); ok && !strings.HasPrefix(key, "$") {
			about, _ := s["description"].(string)
			s["description"] = strings.TrimSpace(about + "\n\n{" + key + ": " + said + "}")
		}
		delete(s, key)
		if _, speaks := s["additionalProperties"]; len(path) == 0 && !speaks {
			s["additionalProperties"] = true // else it would be closed, although more may be meant
		}
	}
	return removed
}

// refers reports whether a reference leads to a place in the schema. Any other keyword does.
func refers(key string, value any, whole map[string]any) bool {
	ref, ok := value.(string)
	if !ok || key != "$ref" && key != "$dynamicRef" {
		return true
	}
	return ref == "#" || strings.HasPrefix(ref, "#/") && lookup(whole, pointer(ref)) != nil
}

// parts returns the schemas within the value of a keyword, under "" if it is one, and whether the
// value is one that the keyword may have.
func parts(key string, value any) (within map[string]any, fits bool) {
	switch {
	case slices.Contains(ofNamed, key):
		within, fits = value.(map[string]any)
		names := map[string]any{}
		for name := range within {
			names[name] = true
		}
		return within, fits && compiles(map[string]any{key: names}) // the names may be patterns
	case slices.Contains(ofList, key):
		list, ok := value.([]any)
		within = map[string]any{}
		for i, inner := range list {
			within[literal(i)] = inner
			ok = ok && isSchema(inner)
		}
		return within, ok && len(list) > 0
	case slices.Contains(ofOne, key):
		return map[string]any{"": value}, isSchema(value)
	}
	return nil, key == "$ref" || key == "$dynamicRef" || compiles(map[string]any{key: value})
}

func isSchema(v any) bool {
	switch v.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

func compiles(schema map[string]any) bool {
	raw, err := json.Marshal(schema)
	if err == nil {
		_, err = compile(raw, false)
	}
	return err == nil
}

// scalar writes a short value that is neither an object nor a list.
func scalar(v any) (said string, ok bool) {
	const most = 200
	switch v := v.(type) {
	case map[string]any, []any, nil:
		return "", false
	case string:
		return v, len(v) <= most
	}
	return literal(v), true
}
