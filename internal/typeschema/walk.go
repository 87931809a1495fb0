package typeschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// walker builds one schema. The library infers schemas too, but without paths in
// its errors, refusing recursion, with null wherever Go has nil, and with all
// fields of embedded structs where encoding/json would drop some; so only the
// schemas of basic types are its own.
type walker struct {
	root   reflect.Type
	active []reflect.Type                // named types being visited
	defs   map[string]*jsonschema.Schema // recursive types, finished
	names  map[reflect.Type]string       // of recursive types other than root
	owners map[string]reflect.Type       // who has a name in defs
	errs   []error
	strict bool // bounds for what encoding/json refuses; see [For]
}

// fail notes what is wrong with the type at path and goes on, so that all
// problems are told at once.
func (w *walker) fail(path, format string, args ...any) *jsonschema.Schema {
	where := w.root.String()
	if path != "" {
		where += ": field " + path
	}
	w.errs = append(w.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
	return &jsonschema.Schema{}
}

// visit is the schema of t; path leads to it from the root in Go's words.
func (w *walker) visit(t reflect.Type, path string, values []string) *jsonschema.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if values != nil {
		return w.enum(t, path, values)
	}
	if s := special(t); s != nil {
		if w.strict && s.ContentEncoding != "" {
			s.Pattern = base64
		}
		return s
	}
	if t == reflect.TypeFor[time.Duration]() {
		return w.fail(path, "time.Duration is a bare count of nanoseconds in JSON: use a string for time.ParseDuration, or a number with the unit in its name")
	}
	if wantsText(t) {
		return &jsonschema.Schema{Type: "string"}
	}
	if implements(t, reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()) {
		return w.fail(path, "%s has a JSON form of its own that cannot be known: use json.RawMessage, or a type without MarshalJSON and UnmarshalJSON", t)
	}
	if t.Name() == "" || t.PkgPath() == "" {
		return w.kind(t, path)
	}
	if name, ok := w.names[t]; ok {
		return reference(name)
	}
	if slices.Contains(w.active, t) {
		return reference(w.name(t))
	}
	w.active = append(w.active, t)
	s := w.kind(t, path)
	w.active = w.active[:len(w.active)-1]
	if name, ok := w.names[t]; ok && name != "" {
		w.defs[name] = s
		return reference(name)
	}
	return s
}

func (w *walker) kind(t reflect.Type, path string) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return w.fail(path, "%s is an interface with methods, which JSON cannot be decoded into: use a struct, any or json.RawMessage", t)
		}
		return anyValue()
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return w.fail(path, "%s has keys that are not strings: use map[string]%s", t, t.Elem())
		}
		return &jsonschema.Schema{Type: "object", AdditionalProperties: w.visit(t.Elem(), path+"{}", nil)}
	case reflect.Slice, reflect.Array:
		return list(t, w.visit(t.Elem(), path+"[]", nil))
	case reflect.Struct:
		return w.object(t, path)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return w.fail(path, "%s has no JSON form: leave it out with json:\"-\"", t)
	case reflect.Complex64, reflect.Complex128:
		return w.fail(path, "%s has no JSON form: use a struct of two numbers", t)
	}
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		return w.fail(path, "%v", err)
	}
	switch {
	case !w.strict:
	case t.Kind() == reflect.Float32:
		s.Minimum, s.Maximum = new(-math.MaxFloat32), new(math.MaxFloat32)
	case t.Kind() == reflect.Float64:
		s.Minimum, s.Maximum = new(-math.MaxFloat64), new(math.MaxFloat64)
	}
	return s
}

const base64 = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`

func list(t reflect.Type, items *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		s.MinItems, s.MaxItems = new(t.Len()), new(t.Len())
	}
	return s
}

func (w *walker) object(t reflect.Type, path string) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // written as false
	}
	fields, err := fieldsOf(t)
	if err != nil {
		return w.fail(path, "%v", err)
	}
	for _, f := range fields {
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		var values []string
		if tag, ok := f.Tag.Lookup("enum"); ok {
			values = split(tag)
		}
		p := w.visit(f.Type, at, values)
		if text, ok := f.Tag.Lookup("jsonschema"); ok {
			if text == "" || keyed.MatchString(text) {
				w.fail(at, "the jsonschema tag %q is not a description: write plain words, and values into an enum tag", text)
			}
			p.Description = text
		}
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// keyed is what the library keeps for the future: a tag that begins with WORD=.
var keyed = regexp.MustCompile(`^[^ \t\n]*=`)

func anyValue() *jsonschema.Schema {
	// A description, because some providers refuse true and {} as a schema.
	return &jsonschema.Schema{Description: "any JSON value"}
}

// special is the schema of types whose JSON form is known though their Go
// structure does not show it, or nil.
func special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return anyValue()
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !implements(t, customs...) && !implements(t.Elem(), customs...) {
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

var (
	texts = []reflect.Type{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}
	jsons = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()}
	// customs are the ways for a type to have a JSON form of its own.
	customs = slices.Concat(texts, jsons)
)

// wantsText reports whether encoding/json has t as a string because of its text
// methods. JSON methods would come before them.
func wantsText(t reflect.Type) bool {
	return implements(t, texts...) && !implements(t, jsons...)
}

// implements reports whether t or *t has one of the interfaces.
func implements(t reflect.Type, interfaces ...reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return false
	}
	return slices.ContainsFunc(interfaces, func(i reflect.Type) bool {
		return t.Implements(i) || reflect.PointerTo(t).Implements(i)
	})
}

// name gives a recursive type a name in $defs; the root has none, it is "#".
func (w *walker) name(t reflect.Type) string {
	if t == w.root {
		w.names[t] = ""
		return ""
	}
	plain := unnameable.ReplaceAllString(t.Name(), "_") // type arguments hold brackets and slashes
	name := plain
	for i := 2; w.owners[name] != nil; i++ {
		name = plain + strconv.Itoa(i)
	}
	w.names[t], w.owners[name] = name, t
	return name
}

var unnameable = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func reference(name string) *jsonschema.Schema {
	if name == "" {
		return &jsonschema.Schema{Ref: "#"}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}
