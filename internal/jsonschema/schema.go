// Package jsonschema validates JSON documents strictly against JSON Schema and
// says what is wrong in words a language model can act on.
//
// Nothing is coerced: 1 is not "1" and "true" is not true. A whole number
// written as 1.0 is an integer, as JSON Schema has it. Formats that are known
// (date-time, uuid, uri, ...) are asserted in every draft, because a tool that
// decodes the value would refuse it anyway. No file, network or working
// directory is ever looked at.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pawl-run/pawl/internal/naming"
)

// root is the made-up address under which a schema is compiled. It has to be
// absolute, or the library would resolve it against the working directory.
const (
	folder = "schema:///"
	root   = folder + "root.json"
)

// Options changes how a schema is read. Nil means the zero value.
type Options struct {
	// Closed makes an object schema refuse, at the top level, properties it does
	// not name, unless it says itself what becomes of them. See [Compile].
	Closed bool
}

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	full *validator.Schema
	cost cost
	doc  any // decoded schema, to find the property names to suggest
}

// Compile reads a JSON Schema, draft 2020-12 unless $schema names another.
//
// References may lead to places within the schema and to the meta-schemas of
// JSON Schema itself; any other is an error. So are duplicate keys, patterns
// outside RE2, dynamic anchors, and a schema that is too large.
//
// With Closed, a top-level schema whose type is "object", or which has
// properties and no type, gets additionalProperties false. It is left alone if
// it already speaks of other properties (additionalProperties,
// patternProperties, propertyNames, unevaluatedProperties, or minProperties
// without properties), or if properties may be named elsewhere ($ref, allOf,
// anyOf, oneOf, if, dependentSchemas and their kin), since a closed top would
// then refuse what those parts name.
//
// An empty schema (nil, or nothing but space) is an object with no properties
// when Closed, and any JSON value otherwise.
//
// What was compiled is kept by its text, up to a bound, since a program that
// starts many runs of one agent compiles the same few schemas again and again.
func Compile(schema json.RawMessage, o *Options) (*Schema, error) {
	key := source{string(schema), o != nil && o.Closed}
	compiled.Lock()
	s := compiled.kept[key]
	compiled.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := compile(schema, key.closed)
	if err != nil {
		return nil, err
	}
	compiled.Lock()
	defer compiled.Unlock()
	if len(compiled.kept) >= mostKept {
		clear(compiled.kept)
	}
	compiled.kept[key] = s
	return s, nil
}

// compiled are schemas by what they were compiled from. When there are mostKept,
// all are dropped: a program with more than that makes them up as it goes, and
// gains nothing from keeping any.
var compiled = struct {
	sync.Mutex
	kept map[source]*Schema
}{kept: map[source]*Schema{}}

type source struct {
	schema string
	closed bool
}

const mostKept = 512

func compile(schema json.RawMessage, closed bool) (*Schema, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`true`)
		if closed {
			schema = json.RawMessage(`{"type":"object"}`)
		}
	}
	doc, problem := decode(schema)
	if problem != nil {
		return nil, fmt.Errorf("schema%s: %s", problem.where(), problem.Message)
	}
	switch m := doc.(type) {
	case bool:
	case map[string]any:
		if closed && closable(m) {
			m["additionalProperties"] = false
		}
	default:
		return nil, fmt.Errorf("schema: must be a JSON object or a boolean, got %s", show(doc))
	}
	full, err := compileFull(doc)
	if err != nil {
		return nil, err
	}
	cost, err := costOf(full)
	if err != nil {
		return nil, err
	}
	return &Schema{full: full, cost: cost, doc: doc}, nil
}

// Validate reports everything that is wrong with doc, sorted by path and then
// by message, or nil when doc is valid. A document that is malformed, gives a
// key twice, nests deeper than 1,000 levels, holds an unpaired surrogate or a
// number beyond 1,000 digits has exactly one problem, which says so. So has one
// that might take more than 500,000 steps, which the schema decides as much as
// the document.
func (s *Schema) Validate(doc []byte) []Problem {
	value, problem := decode(doc)
	if problem != nil {
		return []Problem{*problem}
	}
	if !s.cost.allows(value, len(doc)) {
		return []Problem{{Message: "the document takes too long to check against this schema; send a smaller or less nested one"}}
	}
	err := s.full.Validate(value)
	if err == nil {
		return nil
	}
	var failed *validator.ValidationError
	if !errors.As(err, &failed) {
		return []Problem{{Message: err.Error()}}
	}
	return explain(failed, value, s.doc)
}

// compileFull turns a panic of the library into an error: schemas come from
// other people's servers, and none of them should end the process.
func compileFull(doc any) (full *validator.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			full, err = nil, fmt.Errorf("schema: cannot be compiled: %v", r)
		}
	}()
	c := validator.NewCompiler()
	c.UseLoader(refuse{})
	c.DefaultDraft(validator.Draft2020)
	c.AssertFormat()
	c.UseRegexpEngine(func(expr string) (validator.Regexp, error) {
		p, err := naming.CompilePattern(expr)
		if err != nil {
			return nil, err // not a nil pattern, which the interface would hide
		}
		return p, nil
	})
	if err := c.AddResource(root, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	full, err = c.Compile(root)
	if err == nil {
		return full, nil
	}
	if absent, ok := errors.AsType[*validator.LoadURLError](err); ok {
		return nil, fmt.Errorf("schema: refers to %q: %w", strings.TrimPrefix(absent.URL, folder), absent.Err)
	}
	var broken *validator.SchemaValidationError
	var failed *validator.ValidationError
	if !errors.As(err, &broken) || !errors.As(broken.Err, &failed) {
		return nil, fmt.Errorf("schema: %w", brief{err})
	}
	_, at, _ := strings.Cut(broken.URL, "#")
	base := pointer(at)
	value := lookup(doc, base)
	var all []error
	for _, p := range explain(failed, value, nil) {
		p.Path = join(base) + p.Path
		all = append(all, fmt.Errorf("schema%s: %s", p.where(), p.Message))
	}
	return nil, errors.Join(all...)
}

// brief hides the made-up address in a message of the library.
type brief struct{ error }

func (b brief) Error() string { return strings.ReplaceAll(b.error.Error(), root, "") }
func (b brief) Unwrap() error { return b.error }

// refuse is a loader that loads nothing.
type refuse struct{}

func (refuse) Load(string) (any, error) {
	return nil, errors.New("only references within the schema are followed, such as #/$defs/NAME; copy the other schema into $defs")
}

// speaks are the keywords with which a schema says, or may say elsewhere, what
// other properties an object can have.
var speaks = []string{
	"additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties",
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not",
	"if", "then", "else", "dependentSchemas", "dependencies",
}

func closable(m map[string]any) bool {
	_, named := m["properties"].(map[string]any)
	switch t := m["type"].(type) {
	case nil:
		if !named {
			return false
		}
	case string:
		if t != "object" {
			return false
		}
	case []any:
		if len(t) != 1 || t[0] != "object" {
			return false
		}
	}
	if _, counted := m["minProperties"]; counted && !named {
		return false
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(k string) bool {
		return slices.Contains(speaks, k)
	})
}
