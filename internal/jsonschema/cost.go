package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pawl-run/pawl/internal/naming"
)

const (
	// mostSteps is how many steps the validation of a document may take: visits of a schema to
	// a value, and stretches of text under a pattern. They take about a second and 200 MB at worst.
	mostSteps = 500_000
	perStep   = 64 // instructions of a pattern times bytes, which take as long as a visit

	mostLevels = 100     // that a schema is expanded to
	mostParts  = 500_000 // schemas that are looked at for that
)

// A cost bounds the work that a schema makes. The library visits a value once for each way that
// leads from the schema's root to it, and a schema that refers to itself from two alternatives
// doubles the ways at each level. So a schema is expanded when it is compiled: all references are
// followed, level by level, and a document is then judged by its size and depth alone.
type cost struct {
	visits  []int // by level: schemas that a value there, or above it, meets at most
	matches []int // by level: instructions of patterns that it meets at most
	whole   bool  // a value below these levels meets no more
}

// allows reports whether a document does not take too many steps.
func (c *cost) allows(value any, bytes int) bool {
	values, levels := measure(value)
	if levels > len(c.visits) && !c.whole {
		return false
	}
	i := min(levels, len(c.visits)) - 1
	return c.visits[i]*values <= mostSteps && c.matches[i]*bytes/perStep <= mostSteps
}

// measure counts the values in a document and its levels, of which a text has one.
func measure(value any) (values, levels int) {
	within := func(inner any) {
		n, deep := measure(inner)
		values, levels = values+n, max(levels, deep)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			within(inner)
		}
	case []any:
		for _, inner := range v {
			within(inner)
		}
	}
	return values + 1, levels + 1
}

// A front is the schemas that one value meets, each with how often.
type front map[*validator.Schema]int

// An expansion follows a schema into the levels of a document.
type expansion struct {
	cost

	left int             // parts that may still be looked at
	seen map[string]bool // fronts that were
}

// costOf expands a schema.
func costOf(root *validator.Schema) (cost, error) {
	x := &expansion{left: mostParts, seen: map[string]bool{}}
	level := []front{{root: 1}}
	for len(level) > 0 && len(x.visits) < mostLevels {
		var visits, matches int // of this level and those above
		if last := len(x.visits) - 1; last >= 0 {
			visits, matches = x.visits[last], x.matches[last]
		}
		var next []front
		for _, f := range level {
			met, own := front{}, 0
			for s, n := range f {
				if err := x.meet(s, n, met, map[*validator.Schema]bool{}); err != nil {
					return x.cost, err
				}
			}
			sum := 0
			for s, n := range met {
				sum, own = sum+n, own+n*instructions(s)
			}
			visits, matches = max(visits, sum), max(matches, own)
			next = append(next, x.within(met)...)
		}
		x.visits, x.matches, level = append(x.visits, visits), append(x.matches, matches), next
		if visits > mostSteps { // so does no document of a further level
			break
		}
	}
	x.whole = len(level) == 0
	return x.cost, nil
}

// meet adds a schema that a value meets n times, and those that it applies to the same value.
// Path has those that lead to it.
func (x *expansion) meet(s *validator.Schema, n int, met front, path map[*validator.Schema]bool) error {
	x.left--
	switch {
	case x.left < 0:
		return errors.New("schema: it is too large, or refers to itself in too many ways")
	case path[s]:
		return errors.New("schema: it refers to itself for one and the same value; refer to it from properties or items")
	case (s.DynamicAnchor != "" || s.RecursiveAnchor) && strings.HasPrefix(s.Location, folder):
		return errors.New("schema: $dynamicAnchor and $recursiveAnchor are not supported; refer to a schema with $ref")
	}
	met[s] += n
	path[s] = true
	defer delete(path, s)
	for _, inner := range inPlace(s) {
		if err := x.meet(inner, n, met, path); err != nil {
			return err
		}
	}
	return nil
}

// within returns what the values within a value meet, which were not looked at before: its items,
// the properties that a schema names, and others.
func (x *expansion) within(met front) (list []front) {
	add := func(applied func(*validator.Schema) []any) {
		next := front{}
		for s, n := range met {
			for _, v := range applied(s) {
				x.left--
				if inner, ok := v.(*validator.Schema); ok && inner != nil {
					next[inner] += n
				}
			}
		}
		if key := fmt.Sprint(next); len(next) > 0 && !x.seen[key] { // in the order of addresses
			x.seen[key] = true
			list = append(list, next)
		}
	}
	add(func(s *validator.Schema) []any {
		all := []any{s.Contains, s.Items2020, s.AdditionalItems, s.UnevaluatedItems, s.Items}
		positions, _ := s.Items.([]*validator.Schema)
		for _, inner := range slices.Concat(positions, s.PrefixItems) {
			all = append(all, inner)
		}
		return all
	})
	names := map[string]bool{}
	property := func(s *validator.Schema, inner any) []any {
		all := []any{inner, s.UnevaluatedProperties, s.PropertyNames}
		for _, inner := range s.PatternProperties {
			all = append(all, inner)
		}
		return all
	}
	add(func(s *validator.Schema) []any {
		for name := range s.Properties {
			names[name] = true
		}
		return property(s, s.AdditionalProperties)
	})
	for name := range names {
		add(func(s *validator.Schema) []any {
			if inner := s.Properties[name]; inner != nil {
				return property(s, inner)
			}
			return property(s, s.AdditionalProperties)
		})
	}
	return list
}

// inPlace are the schemas that a schema applies to the value that it is applied to.
func inPlace(s *validator.Schema) []*validator.Schema {
	list := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)),
		[]*validator.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else})
	if s.DynamicRef != nil {
		list = append(list, s.DynamicRef.Ref)
	}
	for _, d := range s.Dependencies {
		inner, _ := d.(*validator.Schema)
		list = append(list, inner)
	}
	return slices.DeleteFunc(list, func(s *validator.Schema) bool { return s == nil })
}

// instructions are those of the patterns that a schema has for a text, and for the names of properties.
func instructions(s *validator.Schema) (n int) {
	for _, re := range append(slices.Collect(maps.Keys(s.PatternProperties)), s.Pattern) {
		if own, ok := re.(*naming.Pattern); ok {
			n += own.Size()
		}
	}
	return n
}
