package spec

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// schema checks a JSON Schema that is the value of a key, and reports its problems at their places.
func (d *document) schema(n *node, key string) bool {
	if n == nil || n.kind != mapping {
		return true
	}
	var b bytes.Buffer
	n.json(&b)
	_, err := jsonschema.Compile(b.Bytes(), nil)
	if err == nil {
		return true
	}
	for _, e := range parts(err) {
		message := strings.TrimPrefix(e.Error(), "schema")
		where, rest, found := strings.Cut(strings.TrimPrefix(message, " at "), ": ")
		if !found {
			where, rest = "", strings.TrimPrefix(message, ": ")
		}
		path := strings.Split(where, "/")[1:]
		for i := range path {
			path[i] = strings.NewReplacer("~0", "~", "~1", "/").Replace(path[i])
		}
		at, way := n.follow(path...)
		last := ""
		if way > 0 {
			last = path[way-1]
		}
		switch _, err := strconv.Atoi(last); {
		case last == "type" && at.kind == text:
			d.problem(at, "%s: type is %q%s", key, at.text, expr.DidYouMean(at.text, schemaTypes))
		case last != "" && err != nil && strings.HasPrefix(rest, "value "):
			d.problem(at, "%s: %s: %s", key, last, rest)
		default:
			d.problem(at, "%s: %s", key, rest)
		}
	}
	return false
}

// schemaTypes are the types of JSON Schema.
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}
