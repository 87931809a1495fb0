package typeschema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A maker makes schemas.
type maker struct {
	root       reflect.Type                  // the type that was asked for; nil: components are made
	strict     bool                          // bounds for what encoding/json refuses; see [For]
	components *Components                   // nil: only types that contain themselves have a name
	within     []reflect.Type                // the types around the one that is being made
	names      map[reflect.Type]string       // types that others refer to, by their names in defs; the root has none
	defs       map[string]*jsonschema.Schema // their schemas
	errs       []error
}

// fail notes what is wrong with the type at path and goes on, so that all problems are reported at
// once.
func (m *maker) fail(path, format string, args ...any) *jsonschema.Schema {
	where := fmt.Sprint(m.root)
	if path != "" {
		where += ": field " + path
	}
	m.errs = append(m.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
	return &jsonschema.Schema{}
}

// schema makes the schema of a type, or refers to it. Path leads to it from the root in Go's words.
func (m *maker) schema(t reflect.Type, path string) *jsonschema.Schema {
	t = pointed(t)
	if s := m.known(t); s != nil {
		return s
	}
	if _, known := m.names[t]; known {
		return m.reference(t)
	}
	if slices.Contains(m.within, t) {
		m.name(t)
		return m.reference(t)
	}
	if m.components != nil && t.Kind() == reflect.Struct && t.Name() != "" {
		m.names[t] = m.components.add(t)
	}
	m.within = append(m.within, t)
	s := m.make(t, path)
	m.within = m.within[:len(m.within)-1]
	if name := m.names[t]; name != "" {
		m.defs[name] = s
		return m.reference(t)
	}
	return s
}

// known returns the schema of a type that is not made by its structure, or nil.
func (m *maker) known(t reflect.Type) *jsonschema.Schema {
	if m.components == nil {
		return special(t, m.strict)
	}
	if s := m.components.known[t]; s != nil {
		return s.CloneSchemas()
	}
	s := special(t, false)
	if s == nil && implements(t, reflect.TypeFor[json.Marshaler]()) {
		return anything()
	}
	return s
}

// name gives a type that contains itself a name in $defs. The root has none: it is "#".
func (m *maker) name(t reflect.Type) {
	name := ""
	if t != m.root {
		name = unnameable.ReplaceAllString(t.Name(), "_") // type arguments hold brackets and slashes
	}
	for other, used := range m.names {
		if used == name {
			m.fail("", "%s and %s contain themselves: give one of them another name", t, other)
		}
	}
	m.names[t] = name
}

var unnameable = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func (m *maker) reference(t reflect.Type) *jsonschema.Schema {
	if m.components != nil {
		return Reference(m.names[t])
	}
	if t == m.root {
		return &jsonschema.Schema{Ref: "#"}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + m.names[t]}
}

// make makes the schema of a type by its structure.
func (m *maker) make(t reflect.Type, path string) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return m.fail(path, "time.Duration is a bare count of nanoseconds in JSON: use a string for time.ParseDuration, or a number with the unit in its name")
	case m.components == nil && implements(t, jsons...):
		return m.fail(path, "%s has a JSON form of its own that cannot be known: use json.RawMessage, or a type without MarshalJSON and UnmarshalJSON", t)
	}
	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Interface:
		if t.NumMethod() > 0 {
			m.fail(path, "%s is an interface with methods, which JSON cannot be decoded into: use a struct, any or json.RawMessage", t)
		}
		return anything()
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			m.fail(path, "%s has keys that are not strings: use map[string]%s", t, t.Elem())
		}
		s := &jsonschema.Schema{Type: "object", AdditionalProperties: m.schema(t.Elem(), path+"{}")}
		if t == m.root && !m.strict {
			s.Properties = map[string]*jsonschema.Schema{} // OpenAI refuses parameters without
		}
		return s
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: m.schema(t.Elem(), path+"[]")}
	case reflect.Array:
		return &jsonschema.Schema{Type: "array", Items: m.schema(t.Elem(), path+"[]"), MinItems: new(t.Len()), MaxItems: new(t.Len())}
	case reflect.Struct:
		return m.object(t, path)
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr {
		return whole(t)
	}
	return m.fail(path, "%s has no JSON form: leave it out with json:\"-\"", t)
}

// whole returns the schema of a type of whole numbers, with bounds below 64 bits.
func whole(t reflect.Type) *jsonschema.Schema {
	s, bits := &jsonschema.Schema{Type: "integer"}, t.Bits()
	if t.Kind() >= reflect.Uint {
		s.Minimum = new(0.0)
	} else if bits--; bits < 63 {
		s.Minimum = new(-math.Ldexp(1, bits))
	}
	if t.Bits() < 64 {
		s.Maximum = new(math.Ldexp(1, bits) - 1)
	}
	return s
}

// object makes the schema of a struct.
func (m *maker) object(t reflect.Type, path string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	if m.components == nil { // else a reader may meet fields that are added later
		s.AdditionalProperties = Closed()
	}
	for _, f := range reflect.VisibleFields(t) {
		at, tag := strings.TrimPrefix(path+"."+f.Name, "."), f.Tag.Get("json")
		if f.Anonymous && (tag != "" || pointed(f.Type).Kind() != reflect.Struct || !f.IsExported() && f.Type.Kind() == reflect.Pointer) {
			m.fail(at, "it is embedded, and no struct, unexported behind a pointer, or tagged json: make it a field with an exported name")
		}
		if f.Anonymous || !f.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		s.PropertyOrder = append(slices.DeleteFunc(s.PropertyOrder, func(other string) bool { return other == name }), name)
		s.Properties[name] = m.field(f, at, strings.Split(options, ","))
		switch optional := strings.Contains(options, "omit"); {
		case optional, m.components == nil && mayLack(t, f):
		case f.Type.Kind() == reflect.Pointer:
			s.Properties[name] = orNull(s.Properties[name])
			fallthrough
		default:
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// field makes the schema of a field, with what its tags say.
func (m *maker) field(f reflect.StructField, path string, options []string) *jsonschema.Schema {
	if slices.Contains(options, "string") {
		m.fail(path, "the JSON option string hides its type: drop the option, or declare the field as a string")
	}
	s := m.schema(f.Type, path)
	if about := f.Tag.Get("jsonschema"); about != "" {
		if word, _, found := strings.Cut(about, "="); found && !strings.ContainsAny(word, " \t\n") {
			m.fail(path, "the jsonschema tag must not begin with 'WORD=': %q; it is a description", about)
		}
		s.Description = about
	}
	if values, ok := f.Tag.Lookup("enum"); ok {
		m.enum(s, f.Type, path, strings.Split(values, ","))
	}
	return s
}

// orNull returns the schema of a pointer that is written in any case.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type == "" {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	s.Types, s.Type = []string{s.Type, "null"}, ""
	return s
}

// mayLack reports whether a field may be left out because it is a pointer, or stands behind one.
func mayLack(t reflect.Type, f reflect.StructField) bool {
	for i := range f.Index {
		if t.FieldByIndex(f.Index[:i+1]).Type.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// enum adds the values of an enum tag to the schema of a field, or to that of its elements.
func (m *maker) enum(s *jsonschema.Schema, t reflect.Type, path string, values []string) {
	for t = pointed(t); s.Type == "array"; t = pointed(t.Elem()) {
		s = s.Items
	}
	for i, v := range values {
		if v == "" || slices.Contains(values[:i], v) {
			m.fail(path, "the enum tag %q has an empty or repeated value: list each once, separated by commas", strings.Join(values, ","))
			return
		}
		switch s.Type {
		case "string":
			s.Enum = append(s.Enum, v)
		case "integer", "number":
			if json.Unmarshal([]byte(v), reflect.New(t).Interface()) != nil {
				m.fail(path, "the enum value %q is no %s", v, t)
				return
			}
			s.Enum = append(s.Enum, json.Number(v))
		default:
			m.fail(path, "%s cannot have an enum tag: only strings, numbers, and slices and arrays of them can", t)
			return
		}
	}
}
