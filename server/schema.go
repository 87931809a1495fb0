package server

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// schemas are the JSON Schemas of Go types in the form of encoding/json.
// [internal/typeschema] makes those of tools, where null is not allowed and a type with
// its own JSON form is an error; results have both.
type schemas struct {
	components object
	of         map[string]reflect.Type
}

// ref refers to the schema of a value's type, and makes it if needed.
func (t *schemas) ref(v any) object {
	typ := reflect.TypeOf(v)
	if typ.Kind() == reflect.Pointer { // a body must not have unknown keys
		typ = typ.Elem()
		s := t.visit(typ)
		if schema, ok := t.components[typ.Name()].(object); ok {
			schema["additionalProperties"] = false
		}
		return s
	}
	return t.visit(typ)
}

// demands reports whether a body of that type has required members.
func (t *schemas) demands(body any) bool {
	typ := reflect.TypeOf(body).Elem()
	schema, _ := t.components[typ.Name()].(object)
	return schema["required"] != nil || typ == reflect.TypeFor[client.StartRun]()
}

func (t *schemas) visit(typ reflect.Type) object {
	switch typ {
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[pawl.Status]():
		return t.status()
	case reflect.TypeFor[client.Limits]():
		return t.limits()
	case reflect.TypeFor[pawl.Decimal]():
		return object{"type": "number"}
	case reflect.TypeFor[*pawl.Decimal]():
		return t.visit(reflect.TypeFor[*float64]())
	}
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]()) {
		return object{} // any value
	}
	if typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch typ.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Interface:
		return object{}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Pointer:
		return object{"anyOf": []any{t.visit(typ.Elem()), object{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": t.visit(typ.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": t.visit(typ.Elem())}
	case reflect.Struct:
		return t.named(typ)
	default:
		panic(fmt.Sprintf("server: %v has no schema", typ))
	}
}

// named refers to a struct, by its name; one without a name stands where it is used.
func (t *schemas) named(typ reflect.Type) object {
	name := typ.Name()
	if name == "" {
		return t.body(object{"type": "object"}, typ)
	}
	if t.of == nil {
		t.of = map[string]reflect.Type{}
	}
	if other, ok := t.of[name]; ok && other != typ {
		name = strings.ToUpper(typ.PkgPath()[strings.LastIndex(typ.PkgPath(), "/")+1:][:1]) + typ.PkgPath()[strings.LastIndex(typ.PkgPath(), "/")+2:] + name
	}
	if _, ok := t.of[name]; !ok {
		t.of[name] = typ
		schema := object{"type": "object"}
		t.components[name] = schema // it may contain itself
		t.body(schema, typ)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// body adds the properties of a struct to its schema.
func (t *schemas) body(schema object, typ reflect.Type) object {
	properties, required := object{}, []string{}
	t.fields(typ, properties, &required)
	schema["properties"] = properties
	if slices.Sort(required); len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// fields adds the fields of a struct and of embedded structs.
func (t *schemas) fields(typ reflect.Type, properties object, required *[]string) {
	for field := range typ.Fields() {
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			t.fields(field.Type, properties, required)
			continue
		case !field.IsExported():
			continue
		case name == "":
			name = field.Name
		}
		optional := strings.Contains(rest, "omitempty") || strings.Contains(rest, "omitzero")
		ft := field.Type
		if optional && ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		properties[name] = t.visit(ft)
		if !optional {
			*required = append(*required, name)
		}
	}
}

// status refers to the statuses of runs.
func (t *schemas) status() object {
	if t.components["Status"] == nil {
		var names []any
		for s := pawl.Status(1); ; s++ {
			name, err := s.MarshalText()
			if err != nil {
				break
			}
			names = append(names, string(name))
		}
		t.components["Status"] = object{"type": "string", "enum": names}
	}
	return object{"$ref": "#/components/schemas/Status"}
}

// limits refers to limits, which are numbers or texts.
func (t *schemas) limits() object {
	properties := object{}
	for _, name := range []string{"iterations", "tokens", "time", "cost", "tool_errors", "depth"} {
		properties[name] = object{"type": []string{"number", "string"}}
	}
	t.components["Limits"] = object{
		"type": "object", "properties": properties, "additionalProperties": false,
		"description": "Limits: numbers or texts such as \"30m\"; for a resumed run \"+5\" adds that many.",
	}
	return object{"$ref": "#/components/schemas/Limits"}
}

// entry defines the schema of a log entry, for pages of a log.
func (t *schemas) entry() {
	number := object{"type": "integer", "minimum": 0}
	t.components["Entry"] = object{
		"type": "object", "required": []string{"at", "data", "iteration", "run", "seq", "time", "type"},
		"properties": object{
			"run": object{"type": "string"}, "seq": number, "at": number, "time": object{"type": "string", "format": "date-time"},
			"iteration": number, "type": object{"type": "string"}, "data": object{"type": "object"},
		},
	}
	page := t.components["Entries"].(object)["properties"].(object)
	page["entries"] = object{"type": "array", "items": object{"$ref": "#/components/schemas/Entry"}}
}
