package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/pawl-run/pawl/internal/naming"
)

// explainer turns the library's tree of errors into flat problems.
type explainer struct {
	value  any // the document
	schema any // the schema, or nil if it is not at hand
	all    []Problem
}

// mostProblems is how many problems a reader is told of. They are cut when they
// are sorted: the library finds them in the order of Go maps.
const mostProblems = 50

func explain(failed *validator.ValidationError, value, schema any) []Problem {
	e := explainer{value: value, schema: schema}
	e.add(failed)
	all := sortProblems(e.all)
	if more := len(all) - mostProblems; more > 0 {
		all = append(all[:mostProblems:mostProblems], Problem{Message: fmt.Sprintf("%d more problems are not listed", more)})
	}
	return all
}

func (e *explainer) add(f *validator.ValidationError) {
	say := func(format string, args ...any) {
		e.all = append(e.all, Problem{Path: join(f.InstanceLocation), Message: fmt.Sprintf(format, args...)})
	}
	switch k := f.ErrorKind.(type) {
	case *kind.Type:
		value := lookup(e.value, f.InstanceLocation)
		say("value must be %s, got %s%s", either(k.Want), show(value), hint(k.Want, value))
	case *kind.Required:
		for _, name := range k.Missing {
			say("missing property %s", quote(name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			say("unknown property %s%s", quote(name), e.suggest(f.SchemaURL, name))
		}
	case *kind.Enum:
		say("value must be one of %s", literals(k.Want))
	case *kind.Const:
		say("value must be %s", literal(k.Want))
	case *kind.Minimum:
		say("value must be at least %s", decimal(k.Want))
	case *kind.Maximum:
		say("value must be at most %s", decimal(k.Want))
	case *kind.ExclusiveMinimum:
		say("value must be greater than %s", decimal(k.Want))
	case *kind.ExclusiveMaximum:
		say("value must be less than %s", decimal(k.Want))
	case *kind.MultipleOf:
		say("value must be a multiple of %s", decimal(k.Want))
	case *kind.MinLength:
		say("string must have at least %d characters, got %d", k.Want, k.Got)
	case *kind.MaxLength:
		say("string must have at most %d characters, got %d", k.Want, k.Got)
	case *kind.Pattern:
		say("string must match the pattern %s", quote(k.Want))
	case *kind.Format:
		say("string must be a valid %s: %v", k.Want, k.Err)
	case *kind.MinItems:
		say("array must have at least %d items, got %d", k.Want, k.Got)
	case *kind.MaxItems:
		say("array must have at most %d items, got %d", k.Want, k.Got)
	case *kind.UniqueItems:
		say("items must be unique, those at %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.MinProperties:
		say("object must have at least %d properties, got %d", k.Want, k.Got)
	case *kind.MaxProperties:
		say("object must have at most %d properties, got %d", k.Want, k.Got)
	case *kind.DependentRequired:
		say("missing %s, required because %s is given", literals(k.Missing), quote(k.Prop))
	case *kind.Dependency:
		say("missing %s, required because %s is given", literals(k.Missing), quote(k.Prop))
	case *kind.PropertyNames:
		say("property name %s is not allowed: %s", quote(k.Property), e.inner(f, k.Property))
	case *kind.Contains, *kind.MinContains:
		// The causes say of every item why it does not match: too much to act on.
		say("%s", f.ErrorKind.LocalizedString(english))
	case *kind.AnyOf:
		e.alternatives(f)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			e.alternatives(f)
		} else {
			say("value matches several alternatives (%d and %d), it must match exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)
		}
	case *kind.Not:
		say("value is one that the schema excludes with \"not\"")
	case *kind.FalseSchema:
		say("no value is allowed here")
	default:
		// Schema, Group, Reference and AllOf only hold others together.
		for _, cause := range f.Causes {
			e.add(cause)
		}
		if len(f.Causes) == 0 {
			say("%s", f.ErrorKind.LocalizedString(english))
		}
	}
}

var english = message.NewPrinter(language.English)

// alternatives says of each alternative why it does not match. If all of them
// only want another type, that is one sentence.
func (e *explainer) alternatives(f *validator.ValidationError) {
	at := join(f.InstanceLocation)
	var types []string
	for _, cause := range f.Causes {
		k, ok := cause.ErrorKind.(*kind.Type)
		if !ok || join(cause.InstanceLocation) != at {
			types = nil
			break
		}
		for _, t := range k.Want {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	if types != nil {
		value := lookup(e.value, f.InstanceLocation)
		e.all = append(e.all, Problem{at, fmt.Sprintf("value must be %s, got %s%s", either(types), show(value), hint(types, value))})
		return
	}
	var parts []string
	for i, cause := range f.Causes {
		inner := explainer{value: e.value, schema: e.schema}
		inner.add(cause)
		var said []string
		for _, p := range sortProblems(inner.all) {
			p.Path = strings.TrimPrefix(p.Path, at)
			said = append(said, p.String())
		}
		parts = append(parts, fmt.Sprintf("(%d) %s", i+1, strings.Join(said, ", ")))
	}
	e.all = append(e.all, Problem{at, "value matches none of the alternatives: " + strings.Join(parts, "; ")})
}

// inner explains the causes of f, which are about another value, in one line.
func (e *explainer) inner(f *validator.ValidationError, value any) string {
	inner := explainer{value: value}
	for _, cause := range f.Causes {
		inner.add(cause)
	}
	var said []string
	for _, p := range sortProblems(inner.all) {
		said = append(said, p.Message)
	}
	return strings.Join(said, ", ")
}

// suggest names the properties an object schema knows, or the one that was
// probably meant.
func (e *explainer) suggest(schemaURL, name string) string {
	address, at, _ := strings.Cut(schemaURL, "#")
	if address != root || e.schema == nil {
		return ""
	}
	found := lookup(e.schema, pointer(at))
	schema, _ := found.(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	if meant := naming.Nearest(name, slices.Collect(maps.Keys(known))); meant != "" {
		return ", did you mean " + quote(meant) + "?"
	}
	return ""
}

// hint spots the two mistakes models make most: quoting a number or boolean,
// and sending JSON as text.
func hint(want []string, value any) string {
	s, ok := value.(string)
	if !ok {
		return ""
	}
	inner, problem := decode([]byte(s))
	if problem != nil {
		return ""
	}
	switch inner.(type) {
	case json.Number:
		if slices.Contains(want, "number") || slices.Contains(want, "integer") {
			return ": write it without quotes"
		}
	case bool:
		if slices.Contains(want, "boolean") {
			return ": write it without quotes"
		}
	case map[string]any:
		if slices.Contains(want, "object") {
			return ": give the object itself, not its text"
		}
	case []any:
		if slices.Contains(want, "array") {
			return ": give the array itself, not its text"
		}
	}
	return ""
}

func either(types []string) string {
	said := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			said[i] = t
		case "integer", "array", "object":
			said[i] = "an " + t
		default:
			said[i] = "a " + t
		}
	}
	return strings.Join(said, " or ")
}

// decimal writes a bound exactly if a few digits do, as a fraction otherwise.
func decimal(r *big.Rat) string {
	if digits, exact := r.FloatPrec(); exact && digits <= 20 {
		return r.FloatString(digits)
	}
	return r.String()
}
