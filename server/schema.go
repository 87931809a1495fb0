package server

import (
	"encoding/json"
	"path"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/typeschema"
	"github.com/pawl-run/pawl/server/client"
)

// schemas are the JSON Schemas of the documents of the API.
type schemas struct{ *typeschema.Components }

func newSchemas() schemas {
	return schemas{typeschema.NewComponents(
		map[string]*jsonschema.Schema{"Status": status(), "Limits": limits()},
		map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[pawl.Decimal]():  {Type: "number"},
			reflect.TypeFor[pawl.Status]():   typeschema.Reference("Status"),
			reflect.TypeFor[client.Limits](): typeschema.Reference("Limits"),
		},
	)}
}

// ref refers to the schema of a value's type, and makes it if needed.
func (t schemas) ref(v any) *jsonschema.Schema {
	typ := reflect.TypeOf(v)
	ref := t.Schema(typ)
	if typ.Kind() == reflect.Pointer && !typ.Implements(reflect.TypeFor[json.Unmarshaler]()) { // a body that ignores no unknown keys
		t.Schemas[path.Base(ref.Ref)].AdditionalProperties = typeschema.Closed()
	}
	return ref
}

// demands reports whether a body has required members.
func (t schemas) demands(body any) bool {
	_, start := body.(*client.StartRun)
	return start || t.Schemas[path.Base(t.ref(body).Ref)].Required != nil
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
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: typeschema.Closed(),
		Description: "Limits: numbers or texts such as \"30m\"; for a resumed run \"+5\" adds that many.",
	}
	meter.Combine(pawl.Limits{}, pawl.Limits{}, func(name string, _, _ float64) float64 {
		s.Properties[name] = &jsonschema.Schema{Types: []string{"number", "string"}}
		return 0
	})
	return s
}

// entry defines the schema of a log entry, for pages of a log.
func (t schemas) entry() {
	number, text := &jsonschema.Schema{Type: "integer", Minimum: new(0.0)}, &jsonschema.Schema{Type: "string"}
	t.Schemas["Entry"] = &jsonschema.Schema{
		Type: "object", Required: []string{"at", "data", "iteration", "run", "seq", "time", "type"},
		Properties: map[string]*jsonschema.Schema{
			"run": text, "seq": number, "at": number, "time": {Type: "string", Format: "date-time"}, "iteration": number, "type": text, "data": {Type: "object"},
		},
	}
	t.Schemas["Entries"].Properties["entries"] = &jsonschema.Schema{Type: "array", Items: typeschema.Reference("Entry")}
}
