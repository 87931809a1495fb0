package spec

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Schema returns the JSON Schema (2020-12) of specs, for editors and programs
// that write specs. It is generated from the tables that the reader uses: a
// spec without problems is valid, and one with a wrong type is not. Only
// reading a spec checks conditions, names of models and contradictions.
func Schema() []byte {
	defs := object{}
	for _, t := range roots {
		define(t, defs)
	}
	root := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Pawl agent",
		"if":      object{"properties": object{"type": object{"const": "loop"}}, "required": []any{"type", "properties"}},
		"then":    in(hyphenKeys).schema,
		"else":    in(specKeys).schema,
		"$defs":   defs,
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(root); err != nil {
		panic("spec: " + err.Error()) // the tables are constant
	}
	return b.Bytes()
}

// roots are the tables of whole documents.
var roots = []*table{specKeys, hyphenKeys}

// define adds a table, and the tables it refers to.
func define(t *table, defs object) {
	if defs[t.name] != nil {
		return
	}
	properties, needed := object{}, []any{}
	def := object{"type": "object", "description": t.about, "additionalProperties": false, "properties": properties}
	defs[t.name] = def
	for _, k := range t.keys {
		properties[k.name] = k.describe()
		if k.needed && k.of == nil {
			needed = append(needed, k.name)
		}
		for _, other := range k.value.tables {
			define(other, defs)
		}
	}
	if len(needed) > 0 {
		def["required"] = needed
	}
	maps.Copy(def, t.more)
}

// describe returns the schema of a key's value, with its description.
func (k key) describe() object {
	s := object{"description": k.about}
	if k.otherwise != "" {
		s["description"] = k.about + ". Default: " + k.otherwise
	}
	maps.Copy(s, k.value.schema)
	return s
}
