package spec

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// schema reads a JSON Schema, and reports its problems at their places.
func (f fields) schema(key string) json.RawMessage {
	n := f.value(key, mapping, "a JSON Schema, as in {type: object, properties: {…}}")
	if n == nil {
		return nil
	}
	var b bytes.Buffer
	n.json(&b)
	_, err := jsonschema.Compile(b.Bytes(), nil)
	if err == nil {
		return b.Bytes()
	}
	for _, e := range parts(err) {
		message := strings.TrimPrefix(e.Error(), "schema")
		where, rest, found := strings.Cut(strings.TrimPrefix(message, " at "), ": ")
		if !found {
			where, rest = "", strings.TrimPrefix(message, ": ")
		}
		at, last := n.follow(where)
		switch {
		case last == "type" && at.kind == text:
			f.problem(at.place, "%s: type is %q%s", key, at.text, expr.DidYouMean(at.text, schemaTypes))
		case last != "" && strings.HasPrefix(rest, "value "):
			f.problem(at.place, "%s: %s: %s", key, last, rest)
		default:
			f.problem(at.place, "%s: %s", key, rest)
		}
	}
	return nil
}

// schemaTypes are the types of JSON Schema.
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// follow returns the node at a JSON pointer, or the last one on the way, and
// its key; empty: it is an item of a list, or the node itself.
func (n *node) follow(pointer string) (_ *node, last string) {
	unescape := strings.NewReplacer("~0", "~", "~1", "/")
	for i, token := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		token = unescape.Replace(token)
		next := n.get(token)
		if k, err := strconv.Atoi(token); err == nil && k >= 0 && k < len(n.items) {
			next = n.items[k]
		}
		if next == nil {
			break
		}
		if last = token; n.kind != mapping {
			last = ""
		}
		n = next
	}
	return n, last
}

// arguments reads the JSON Schema of a tool's arguments, which must be an
// object.
func (f fields) arguments(key string) json.RawMessage {
	schema := f.schema(key)
	if schema == nil {
		return nil
	}
	if t := f.n.get(key).get("type"); t != nil && t.kind == text && t.text != "object" {
		f.problem(t.place, "%s describes one %s (the arguments of a tool are an object: type: object)", key, t.text)
		return nil
	}
	return schema
}
