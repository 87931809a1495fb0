package tool

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/typeschema"
)

// SchemaOf returns the JSON Schema of a Go type as [Func] derives it for arguments, and
// engine.OutputOf for answers. The schema follows encoding/json: a field is required unless
// it is a pointer or tagged omitempty or omitzero; the tag jsonschema:"…" describes a field
// and enum:"a,b" lists its values. The error names each field that has no schema, and the
// remedy.
func SchemaOf[T any]() (json.RawMessage, error) { return typeschema.For[T]() }
