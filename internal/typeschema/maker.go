package typeschema

import (
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A maker has the library make one schema. It looks at the type first, since the errors of the
// library name no path, and corrects what the library made.
type maker struct {
	root     reflect.Type
	strict   bool // bounds for what encoding/json refuses; see [For]
	known    map[reflect.Type]*jsonschema.Schema
	looked   map[reflect.Type]bool
	circular map[reflect.Type]string // types that contain themselves, by their names in $defs; empty: the root
	errs     []error
}

// fail notes what is wrong with the type at path and goes on, so that all problems are reported at
// once.
func (m *maker) fail(path, format string, args ...any) {
	where := m.root.String()
	if path != "" {
		where += ": field " + path
	}
	m.errs = append(m.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

// look looks for what has no schema or a known one, and for types that contain themselves. Path
// leads to t from the root in Go's words, through the types within.
func (m *maker) look(t reflect.Type, path string, within []reflect.Type) {
	t = pointed(t)
	if s := special(t, m.strict); s != nil {
		m.known[t] = s
		return
	}
	if slices.Contains(within, t) {
		m.name(t)
		return
	}
	if m.looked[t] {
		return
	}
	m.looked[t] = true
	within = append(within[:len(within):len(within)], t)
	switch {
	case t == reflect.TypeFor[time.Duration]():
		m.fail(path, "time.Duration is a bare count of nanoseconds in JSON: use a string for time.ParseDuration, or a number with the unit in its name")
		return
	case implements(t, jsons...):
		m.fail(path, "%s has a JSON form of its own that cannot be known: use json.RawMessage, or a type without MarshalJSON and UnmarshalJSON", t)
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		if m.known[t] = special(reflect.TypeFor[any](), false); t.NumMethod() > 0 {
			m.fail(path, "%s is an interface with methods, which JSON cannot be decoded into: use a struct, any or json.RawMessage", t)
		}
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			m.fail(path, "%s has keys that are not strings: use map[string]%s", t, t.Elem())
		}
		m.look(t.Elem(), path+"{}", within)
	case reflect.Slice, reflect.Array:
		m.look(t.Elem(), path+"[]", within)
	case reflect.Struct:
		m.lookAt(t, path, within)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		m.fail(path, "%s has no JSON form: leave it out with json:\"-\"", t)
	}
}

// lookAt looks at the fields of a struct.
func (m *maker) lookAt(t reflect.Type, path string, within []reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		_, tagged := f.Tag.Lookup("json")
		if f.Anonymous && (tagged || pointed(f.Type).Kind() != reflect.Struct || !f.IsExported() && f.Type.Kind() == reflect.Pointer) {
			m.fail(join(path, f.Name), "it is embedded, and no struct, unexported behind a pointer, or tagged json: make it a field with an exported name")
		}
	}
	for _, f := range fields(t) {
		if slices.Contains(strings.Split(f.Tag.Get("json"), ","), "string") {
			m.fail(join(path, f.Name), "the JSON option string hides its type: drop the option, or declare the field as a string")
		}
		m.look(f.Type, join(path, f.Name), within)
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// fields yields the fields of a struct that are in JSON, by their names there.
func fields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			tag := f.Tag.Get("json")
			name, _, _ := strings.Cut(tag, ",")
			if name == "" {
				name = f.Name
			}
			if !f.Anonymous && f.IsExported() && tag != "-" && !yield(name, f) {
				return
			}
		}
	}
}

// name gives a type that contains itself a name in $defs; the root has none, it is "#".
func (m *maker) name(t reflect.Type) {
	name := ""
	if t != m.root {
		name = unnameable.ReplaceAllString(t.Name(), "_") // type arguments hold brackets and slashes
	}
	for other, used := range m.circular {
		if used == name && other != t {
			m.fail("", "%s and %s contain themselves: give one of them another name", t, other)
		}
	}
	m.circular[t] = name
}

var unnameable = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func reference(name string) *jsonschema.Schema {
	if name == "" {
		return &jsonschema.Schema{Ref: "#"}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// make makes the schema of a type, even if all others refer to it.
func (m *maker) make(t reflect.Type) *jsonschema.Schema {
	of := t
	if _, circular := m.circular[t]; circular {
		of = m.unnamed(t)
	}
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: m.known})
	if err != nil {
		m.fail("", "%v", err)
		return &jsonschema.Schema{}
	}
	m.correct(s, of, "")
	return s
}

// unnamed is a type with the same JSON form and no name, for the library takes a named type that it
// meets again for an error.
func (m *maker) unnamed(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return reflect.MapOf(t.Key(), t.Elem())
	case reflect.Slice:
		return reflect.SliceOf(t.Elem())
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), t.Elem())
	}
	var list []reflect.StructField
	for f := range t.Fields() {
		if f.Anonymous {
			m.fail("", "%s contains itself, and embeds %s: declare the fields of that one by one", t, f.Name)
			return reflect.TypeFor[struct{}]()
		}
		if f.IsExported() {
			list = append(list, f)
		}
	}
	return reflect.StructOf(list)
}

// correct takes null out of a schema of the library, and puts in what the tags of fields say.
func (m *maker) correct(s *jsonschema.Schema, t reflect.Type, path string) {
	t = pointed(t)
	s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
	if len(s.Types) > 0 {
		s.Type = s.Types[0]
	}
	s.Types = nil
	if m.known[t] != nil {
		return
	}
	switch t.Kind() {
	case reflect.Map:
		if t == m.root && !m.strict {
			s.Properties = map[string]*jsonschema.Schema{} // OpenAI refuses parameters without
		}
		m.correct(s.AdditionalProperties, t.Elem(), path+"{}")
	case reflect.Slice, reflect.Array:
		m.correct(s.Items, t.Elem(), path+"[]")
	case reflect.Struct:
		if s.Properties == nil {
			s.Properties = map[string]*jsonschema.Schema{}
		}
		for name, f := range fields(t) {
			p, at := s.Properties[name], join(path, f.Name)
			m.correct(p, f.Type, at)
			if tag, ok := f.Tag.Lookup("enum"); ok {
				m.enum(p, f.Type, at, strings.Split(tag, ","))
			}
			if mayLack(t, f) {
				s.Required = slices.DeleteFunc(s.Required, func(other string) bool { return other == name })
			}
		}
	}
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
