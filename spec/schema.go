package spec

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/jsonschema"
)

// schema reads a JSON Schema. What is wrong within it is told at its place.
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
		f.problem(n.follow(where), "%s: %s", key, rest)
	}
	return nil
}

// follow finds the node that a JSON pointer leads to, or the last one on the way.
func (n *node) follow(pointer string) place {
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
		n = next
	}
	return n.place
}

// arguments reads the JSON Schema of a tool's arguments, which are one object.
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
