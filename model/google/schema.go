package google

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl/model/internal/provider"
)

// lone returns a schema in which a $ref stands alone. The API takes JSON Schema, and ignores what
// it cannot guarantee, but it refuses a $ref beside other keywords than those that begin with $.
// Everything else stays as it is, in its order, in which the model writes.
func lone(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"$ref"`)) || !json.Valid(schema) {
		return schema
	}
	switch schema = bytes.TrimSpace(schema); schema[0] {
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(schema, &list) // it is valid
		for i, each := range list {
			list[i] = lone(each)
		}
		return provider.Marshal(list)
	case '{':
		return loneIn(schema)
	}
	return schema
}

// loneIn does the same for an object.
func loneIn(object json.RawMessage) json.RawMessage {
	type field struct {
		name  string
		value json.RawMessage
	}
	var fields []field
	refers := false
	dec := json.NewDecoder(bytes.NewReader(object))
	for _, _ = dec.Token(); dec.More(); {
		var f field
		name, _ := dec.Token()
		f.name, _ = name.(string)
		_ = dec.Decode(&f.value) // it is valid
		refers = refers || f.name == "$ref" && f.value[0] == '"'
		fields = append(fields, f)
	}
	b := []byte("{")
	for _, f := range fields {
		if refers && !strings.HasPrefix(f.name, "$") {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, provider.Marshal(f.name)...), ':')
		b = append(b, lone(f.value)...)
	}
	return append(b, '}')
}
