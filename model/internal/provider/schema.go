package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of a JSON object in its order, in which a model writes them. Nil:
// it is no object.
func Members(object json.RawMessage) (list []Member) {
	if object = bytes.TrimSpace(object); len(object) == 0 || object[0] != '{' || !json.Valid(object) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	for _, _ = dec.Token(); dec.More(); {
		var m Member
		name, _ := dec.Token()
		m.Name, _ = name.(string)
		_ = dec.Decode(&m.Value) // it is valid
		list = append(list, m)
	}
	return list
}

// JoinMembers returns the JSON object of members.
func JoinMembers(list []Member) json.RawMessage {
	b := []byte("{")
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, Marshal(m.Name)...), ':'), m.Value...)
	}
	return append(b, '}')
}

// Keywords whose values are no schemas, and those whose values are schemas by name.
var (
	values  = []string{"const", "enum", "default", "examples"}
	ofNamed = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// Rewrite returns a schema with the members of every schema in it changed by fix.
func Rewrite(schema json.RawMessage, fix func([]Member) []Member) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(schema, &list) == nil && list != nil {
		for i := range list {
			list[i] = Rewrite(list[i], fix)
		}
		return Marshal(list)
	}
	members := Members(schema)
	if members == nil {
		return schema
	}
	members = fix(members)
	for i := range members {
		switch m := &members[i]; {
		case slices.Contains(ofNamed, m.Name):
			named := Members(m.Value)
			for k := range named {
				named[k].Value = Rewrite(named[k].Value, fix)
			}
			m.Value = JoinMembers(named)
		case !slices.Contains(values, m.Name):
			m.Value = Rewrite(m.Value, fix)
		}
	}
	return JoinMembers(members)
}

// A rooted is the schema of an object that is made of the parts of another schema's root.
type rooted struct {
	whole      json.RawMessage
	properties []Member
	required   []string
	followed   []string // references
}

// barred are the keywords that providers refuse at the root of a tool's schema, although they
// take them within it.
var barred = []string{"$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const"}

// Rooted reports whether the root of a schema is a plain object, which is all that some providers
// take.
func Rooted(schema json.RawMessage) bool { return rootedIn(Members(schema)) }

func rootedIn(members []Member) bool {
	object := false
	for _, m := range members {
		if slices.Contains(barred, m.Name) {
			return false
		}
		object = object || m.Name == "type" && string(m.Value) == `"object"`
	}
	return object
}

// Input returns the schema of a tool's arguments in the form that all providers take. Its root is
// an object that accepts no less: a reference is followed, and the properties of alternatives are
// all optional. The run itself checks the arguments against the tool's own schema.
func Input(schema json.RawMessage) json.RawMessage {
	members := Members(schema)
	if rootedIn(members) && slices.ContainsFunc(members, func(m Member) bool { return m.Name == "properties" }) {
		return schema
	}
	r := &rooted{whole: schema}
	r.take(members, true)
	if r.properties == nil {
		r.properties = []Member{}
	}
	out := []Member{{"type", json.RawMessage(`"object"`)}, {"properties", JoinMembers(r.properties)}}
	if r.required != nil {
		out = append(out, Member{"required", Marshal(r.required)})
	}
	for _, m := range members {
		switch {
		case m.Name == "type" || m.Name == "properties" || m.Name == "required" || slices.Contains(barred, m.Name):
		case m.Name == "$defs" || m.Name == "definitions":
			if m.Value = r.used(m); string(m.Value) != "{}" {
				out = append(out, m)
			}
		default:
			out = append(out, m)
		}
	}
	return JoinMembers(out)
}

// used returns the definitions without those that only a followed reference leads to.
func (r *rooted) used(definitions Member) json.RawMessage {
	return JoinMembers(slices.DeleteFunc(Members(definitions.Value), func(m Member) bool {
		ref := "#/" + definitions.Name + "/" + m.Name
		return slices.Contains(r.followed, ref) && bytes.Count(r.whole, Marshal(ref)) == 1
	}))
}

// take adds the properties of a schema and of those that apply to the same value. They are required
// only if they are of no alternative.
func (r *rooted) take(schema []Member, must bool) {
	for _, m := range schema {
		switch m.Name {
		case "properties":
			for _, p := range Members(m.Value) {
				r.add(p)
			}
		case "required":
			var names []string
			_ = json.Unmarshal(m.Value, &names) // what is no list requires nothing
			for _, name := range names {
				if must && !slices.Contains(r.required, name) {
					r.required = append(r.required, name)
				}
			}
		case "$ref":
			var ref string
			if json.Unmarshal(m.Value, &ref) == nil && !slices.Contains(r.followed, ref) {
				r.followed = append(r.followed, ref)
				r.take(r.find(ref), must)
			}
		case "allOf", "anyOf", "oneOf":
			var list []json.RawMessage
			_ = json.Unmarshal(m.Value, &list)
			for _, each := range list {
				r.take(Members(each), must && m.Name == "allOf")
			}
		}
	}
}

// add adds a property. One that is there with another schema accepts either.
func (r *rooted) add(p Member) {
	i := slices.IndexFunc(r.properties, func(m Member) bool { return m.Name == p.Name })
	switch {
	case i < 0:
		r.properties = append(r.properties, p)
	case !bytes.Equal(r.properties[i].Value, p.Value):
		r.properties[i].Value = Marshal(map[string]any{"anyOf": []json.RawMessage{r.properties[i].Value, p.Value}})
	}
}

var pointerUnescapes = strings.NewReplacer("~0", "~", "~1", "/")

// find returns the schema that a reference within the whole leads to; nil: there is none.
func (r *rooted) find(ref string) []Member {
	at := Members(r.whole)
	path, within := strings.CutPrefix(ref, "#/")
	for within && path != "" {
		var name string
		name, path, _ = strings.Cut(path, "/")
		i := slices.IndexFunc(at, func(m Member) bool { return m.Name == pointerUnescapes.Replace(name) })
		if i < 0 {
			return nil
		}
		at = Members(at[i].Value)
	}
	return at
}
