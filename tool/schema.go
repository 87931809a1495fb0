package tool

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/typeschema"
)

// SchemaOf returns the JSON Schema of a Go type as engine.OutputOf derives it for answers,
// which is that of [Func] with bounds for floats and a pattern for base64. The schema follows encoding/json: a field is required unless
// it is a pointer or tagged omitempty or omitzero; the tag jsonschema:"…" describes a field
// and enum:"a,b" lists its values. The error names each field that has no schema, and the
// remedy.
func SchemaOf[T any]() (json.RawMessage, error) { return typeschema.For[T]() }
