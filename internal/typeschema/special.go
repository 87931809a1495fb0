package typeschema

import (
	"encoding"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

const base64 = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`

// special is the schema of a type whose JSON form is known though its Go
// structure does not show it, or nil. If strict, it has bounds for what encoding/json refuses.
func special(t reflect.Type, strict bool) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return anything()
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	}
	text, own := implements(t, texts...), implements(t, jsons...)
	switch {
	case text && !own: // JSON methods would come before those of texts
		return &jsonschema.Schema{Type: "string"}
	case own:
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !implements(t.Elem(), slices.Concat(texts, jsons)...):
		s := &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		if strict {
			s.Pattern = base64
		}
		return s
	case strict && t.Kind() == reflect.Float32:
		return &jsonschema.Schema{Type: "number", Minimum: new(-math.MaxFloat32), Maximum: new(math.MaxFloat32)}
	case strict && t.Kind() == reflect.Float64:
		return &jsonschema.Schema{Type: "number", Minimum: new(-math.MaxFloat64), Maximum: new(math.MaxFloat64)}
	}
	return nil
}

// anything is the schema of any value. It has a description, because some providers refuse true and
// {} as a schema.
func anything() *jsonschema.Schema { return &jsonschema.Schema{Description: "any JSON value"} }

var (
	texts = []reflect.Type{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}
	jsons = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()}
)

// implements reports whether t or *t has one of the interfaces.
func implements(t reflect.Type, interfaces ...reflect.Type) bool {
	return t.Kind() != reflect.Interface && slices.ContainsFunc(interfaces, func(i reflect.Type) bool {
		return t.Implements(i) || reflect.PointerTo(t).Implements(i)
	})
}
