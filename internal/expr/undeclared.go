package expr

import (
	"encoding/json"
	"maps"
	"slices"
)

// Undeclared returns an error for each argument that a predicate uses and that
// a tool with this schema refuses, with the argument's column. A schema that
// may allow arguments it does not name refuses none.
func Undeclared(tool string, schema json.RawMessage, predicate Node) (errs []*Error) {
	names, closed := argumentNames(schema)
	if !closed {
		return nil
	}
	for n := range All(predicate) {
		p, ok := n.(*Path)
		if ok && len(p.Keys) > 0 && !p.Keys[0].IsIndex && !slices.Contains(names, p.Keys[0].Name) {
			errs = append(errs, Errorf(p.Column(), "the tool %s has no argument %s%s", tool, p.Keys[0].Name, DidYouMean(p.Keys[0].Name, names)))
		}
	}
	return errs
}

// argumentNames lists the properties of an object schema, and reports whether
// other properties are known to be refused.
func argumentNames(schema json.RawMessage) (names []string, closed bool) {
	var members map[string]json.RawMessage
	if len(schema) == 0 {
		return nil, true
	}
	if json.Unmarshal(schema, &members) != nil {
		return nil, false
	}
	for _, open := range []string{"patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if"} {
		if _, ok := members[open]; ok {
			return nil, false
		}
	}
	var properties map[string]json.RawMessage
	if p, ok := members["properties"]; ok && json.Unmarshal(p, &properties) != nil {
		return nil, false
	}
	// Undeclared arguments are refused unless additionalProperties is true.
	more := string(members["additionalProperties"])
	return slices.Collect(maps.Keys(properties)), more == "" || more == "false"
}
