package google

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/model/internal/provider"
)

// lone returns a schema in which a $ref stands alone. The API takes JSON Schema, and ignores what
// it cannot guarantee, but it refuses a $ref beside other keywords than those that begin with $.
// Everything else stays as it is, in its order, in which the model writes.
func lone(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema
	}
	return provider.Rewrite(schema, func(members []provider.Member) []provider.Member {
		if !slices.ContainsFunc(members, func(m provider.Member) bool { return m.Name == "$ref" && m.Value[0] == '"' }) {
			return members
		}
		return slices.DeleteFunc(members, func(m provider.Member) bool { return !strings.HasPrefix(m.Name, "$") })
	})
}
