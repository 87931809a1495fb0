package server

import (
	"encoding"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// schemas are the JSON Schemas of Go types in the form of encoding/json, with a component for
// each struct that has a name.
type schemas struct {
	components map[string]*jsonschema.Schema
	known      map[reflect.Type]*jsonschema.Schema // what stands for a type within another
}

func newSchemas() *schemas {
	t := &schemas{components: map[string]*jsonschema.Schema{"Status": status(), "Limits": limits()}}
	t.known = map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): anyValue(),
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[pawl.Decimal]():    {Type: "number"},
		reflect.TypeFor[pawl.Status]():     reference("Status"),
		reflect.TypeFor[client.Limits]():   reference("Limits"),
	}
	return t
}

func anyValue() *jsonschema.Schema { return &jsonschema.Schema{Description: "any JSON value"} }

func reference(component string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + component}
}

// ref refers to the schema of a value's type, and makes it if needed.
func (t *schemas) ref(v any) *jsonschema.Schema {
	typ := reflect.TypeOf(v)
	if typ.Kind() == reflect.Pointer {
		t.look(typ.Elem())
		if !typ.Implements(reflect.TypeFor[json.Unmarshaler]()) { // a body that ignores no unknown keys
			t.components[typ.Elem().Name()].AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
		return t.known[typ.Elem()]
	}
	t.look(typ)
	return t.infer(typ, t.known)
}

// demands reports whether a body of that type has required members.
func (t *schemas) demands(body any) bool {
	typ := reflect.TypeOf(body).Elem()
	return t.components[typ.Name()].Required != nil || typ == reflect.TypeFor[client.StartRun]()
}

// look makes the components that a type needs, and notes the types with a JSON form of their own.
func (t *schemas) look(typ reflect.Type) {
	own, text := reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()
	switch {
	case t.known[typ] != nil:
		return
	case typ.Implements(own) || reflect.PointerTo(typ).Implements(own):
		t.known[typ] = anyValue()
		return
	case typ.Implements(text) || reflect.PointerTo(typ).Implements(text):
		t.known[typ] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		t.look(typ.Elem())
	case reflect.Struct:
		t.component(typ)
	}
}

// component makes the component of a struct, and those that it needs.
func (t *schemas) component(typ reflect.Type) {
	name := typ.Name()
	if t.components[name] != nil {
		of := path.Base(typ.PkgPath())
		name = strings.ToUpper(of[:1]) + of[1:] + name
	}
	if name != "" { // one without a name stands where it is used
		t.components[name] = &jsonschema.Schema{}
		t.known[typ] = reference(name)
		t.known[reflect.SliceOf(typ)] = &jsonschema.Schema{Type: "array", Items: reference(name)} // it may contain itself
	}
	for _, f := range reflect.VisibleFields(typ) {
		if !f.Anonymous && f.IsExported() && f.Tag.Get("json") != "-" {
			t.look(f.Type)
		}
	}
	if name == "" {
		return
	}
	known := maps.Clone(t.known)
	delete(known, typ)
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous { // its fields are those of typ
			delete(known, f.Type)
		}
	}
	t.components[name] = t.infer(typ, known)
}

// infer has the library make the schema of a type. A reader may meet fields that are added later.
func (t *schemas) infer(typ reflect.Type, known map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic("server: " + err.Error()) // the types are constant
	}
	correct(s, true)
	return s
}

// correct has null only where a pointer is written in any case: lists are never null.
func correct(s *jsonschema.Schema, written bool) {
	null := slices.Contains(s.Types, "null")
	switch s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" }); {
	case null && written && s.Ref != "":
		*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Ref: s.Ref}, {Type: "null"}}}
	case null && written && s.Types[0] != "array":
		s.Types = append(s.Types, "null")
	case null:
		s.Type, s.Types = strings.Join(s.Types, ""), nil
	}
	for name, p := range s.Properties {
		correct(p, slices.Contains(s.Required, name))
	}
	if s.Items != nil {
		correct(s.Items, true)
	}
	if s.AdditionalProperties != nil {
		correct(s.AdditionalProperties, true)
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
}

// status is the schema of the statuses of runs.
func status() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for status := pawl.Status(1); ; status++ {
		name, err := status.MarshalText()
		if err != nil {
			return s
		}
		s.Enum = append(s.Enum, string(name))
	}
}

// limits is the schema of limits, which are numbers or texts.
func limits() *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Description: "Limits: numbers or texts such as \"30m\"; for a resumed run \"+5\" adds that many.",
	}
	pawl.Limits{}.Combine(pawl.Limits{}, func(name string, _, _ float64) float64 {
		s.Properties[name] = &jsonschema.Schema{Types: []string{"number", "string"}}
		return 0
	})
	return s
}

// entry defines the schema of a log entry, for pages of a log.
func (t *schemas) entry() {
	number, text := &jsonschema.Schema{Type: "integer", Minimum: new(0.0)}, &jsonschema.Schema{Type: "string"}
	t.components["Entry"] = &jsonschema.Schema{
		Type: "object", Required: []string{"at", "data", "iteration", "run", "seq", "time", "type"},
		Properties: map[string]*jsonschema.Schema{
			"run": text, "seq": number, "at": number, "time": {Type: "string", Format: "date-time"}, "iteration": number, "type": text, "data": {Type: "object"},
		},
	}
	t.components["Entries"].Properties["entries"] = &jsonschema.Schema{Type: "array", Items: reference("Entry")}
}
