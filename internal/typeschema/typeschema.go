// Package typeschema derives a JSON Schema (draft 2020-12) from a Go type, as
// encoding/json would read and write it:
//
//   - A field is required unless it is a pointer, is tagged omitempty or
//     omitzero, or comes out of an embedded pointer.
//   - Nothing is nullable. A pointer says that a value may be left out, and a
//     slice or map without a value is empty; null would be a third way to say
//     the same, which models then use at random. So an output must not hold nil
//     slices, maps or pointers in fields that are not left out when empty.
//   - The tag enum:"r,w" lists the values of a string or number, or of the elements
//     of a slice or array of those.
//   - time.Time is a date-time, []byte a base64 string, json.RawMessage and any
//     are any value, and a type that implements encoding.TextMarshaler or
//     TextUnmarshaler is a string.
//   - A named type that contains itself becomes a definition under $defs, or "#".
//
// Channels, functions, complex numbers, maps whose keys are not strings,
// interfaces with methods, time.Duration, the json option "string", types
// with a JSON form of their own, and embedded types other than structs, or with a
// json tag, are errors.
package typeschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// For is the schema of any type, such as an answer. The bytes are compact and
// the same for the same type. An error names the field and says what would be
// right; there is one for each field that is wrong.
//
// An answer is decoded after its run has ended, when the model cannot correct it. So the schema
// bounds floats as their types do, and has a pattern for base64.
func For[T any]() (json.RawMessage, error) { return schemaOf(reflect.TypeFor[T](), true) }

func schemaOf(t reflect.Type, strict bool) (json.RawMessage, error) {
	t = pointed(t)
	m := &maker{root: t, strict: strict, names: map[reflect.Type]string{}, defs: map[string]*jsonschema.Schema{}}
	s := m.schema(t, "")
	if len(m.defs) > 0 {
		s.Defs = m.defs
	}
	if len(m.errs) > 0 {
		return nil, errors.Join(m.errs...)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return b, nil
}

// Object is [For] for the arguments of a tool, which have to be a struct, a map
// with string keys, or a pointer to one of the two. They have no bounds and patterns, since
// the model reads why arguments cannot be decoded.
func Object[T any]() (json.RawMessage, error) {
	t := reflect.TypeFor[T]()
	inner := pointed(t)
	object := inner.Kind() == reflect.Struct || inner.Kind() == reflect.Map
	if !object || special(inner, false) != nil {
		return nil, fmt.Errorf("%s is not an object: arguments are a struct with a field for each, or a map with string keys", t)
	}
	return schemaOf(t, false)
}

// pointed is what a pointer points to in the end; any other type is itself.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
