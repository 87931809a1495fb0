package typeschema

import (
	"path"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Components are the schemas of the documents of an API, as encoding/json writes them: a component
// for each struct that has a name. Readers may meet further keys, a pointer may be null unless it is
// left out, and a type with a JSON form of its own is any value.
type Components struct {
	Schemas map[string]*jsonschema.Schema // by name

	known map[reflect.Type]*jsonschema.Schema
	maker *maker
}

// NewComponents returns components that have some schemas already. Known are the schemas of types
// whose structure does not show them.
func NewComponents(schemas map[string]*jsonschema.Schema, known map[reflect.Type]*jsonschema.Schema) *Components {
	c := &Components{Schemas: schemas, known: known}
	c.maker = &maker{components: c, names: map[reflect.Type]string{}, defs: schemas}
	return c
}

// Schema returns the schema of a type, which may refer to components. It panics if there is none.
func (c *Components) Schema(t reflect.Type) *jsonschema.Schema {
	s := c.maker.schema(t, "")
	for _, err := range c.maker.errs {
		panic("typeschema: " + err.Error())
	}
	return s
}

// add adds the component of a struct, and returns its name. If another package has a struct of that
// name, the name begins with the package.
func (c *Components) add(t reflect.Type) string {
	name := t.Name()
	if c.Schemas[name] != nil {
		of := path.Base(t.PkgPath())
		name = strings.ToUpper(of[:1]) + of[1:] + name
	}
	c.Schemas[name] = &jsonschema.Schema{}
	return name
}

// Reference refers to a component.
func Reference(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

// Closed is the schema of keys that a mapping may not have.
func Closed() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
