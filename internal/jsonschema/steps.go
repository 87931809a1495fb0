package jsonschema

import (
	"errors"
	"maps"
	"math"
	"slices"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pawl-run/pawl/internal/pattern"
)

// mostSteps is how many steps the validation of a document may take: visits of a
// schema to a value, and stretches of text under a pattern. They take about a
// second and 200 MB at worst.
const mostSteps = 500_000

// A tally counts the steps that the library would take, before it takes them.
// The library visits a value once for each way that leads from the schema's root
// to it, and a schema that refers to itself from two alternatives doubles the
// ways at each level. A tally goes each way once: what a schema takes for a value
// is always the same, so it is kept.
type tally struct {
	anchors map[string][]*validator.Schema // what a dynamic reference may lead to
	kept    map[visit]int
	visits  int
}

type visit struct {
	schema *validator.Schema
	value  *node
}

// node is a value, told apart from equal ones elsewhere in the document.
type node struct {
	value  any
	names  map[string]*node // the names of the fields, as values
	fields map[string]*node
	items  []*node
}

func nodeOf(value any) *node {
	n := &node{value: value}
	switch v := value.(type) {
	case map[string]any:
		n.names, n.fields = make(map[string]*node, len(v)), make(map[string]*node, len(v))
		for name, inner := range v {
			n.names[name], n.fields[name] = &node{value: name}, nodeOf(inner)
		}
	case []any:
		n.items = make([]*node, len(v))
		for i, inner := range v {
			n.items[i] = nodeOf(inner)
		}
	}
	return n
}

// of is the steps for a value, at most mostSteps+1.
func (t *tally) of(s *validator.Schema, n *node) int {
	if s == nil || n == nil {
		return 0
	}
	at := visit{s, n}
	if steps, known := t.kept[at]; known {
		return steps
	}
	if t.visits++; t.visits > mostSteps {
		return mostSteps + 1
	}
	steps := 1
	add := func(more int) { steps = min(steps+more, mostSteps+1) }
	for _, inner := range inPlace(s) {
		add(t.of(inner, n))
	}
	if s.DynamicRef != nil {
		most := t.of(s.DynamicRef.Ref, n)
		for _, other := range t.anchors[s.DynamicRef.Anchor] {
			most = max(most, t.of(other, n))
		}
		add(most)
	}
	if s.Enum != nil {
		add(len(s.Enum.Values))
	}
	add(matching(s.Pattern, n))
	for name, field := range n.fields {
		add(t.of(s.Properties[name], field) + t.any(s.AdditionalProperties, field) + t.of(s.UnevaluatedProperties, field) + t.of(s.PropertyNames, n.names[name]))
		for p, inner := range s.PatternProperties {
			add(matching(p, n.names[name]) + t.of(inner, field))
		}
	}
	for i, item := range n.items {
		add(t.of(s.Contains, item) + t.of(s.Items2020, item) + t.any(s.AdditionalItems, item) + t.of(s.UnevaluatedItems, item))
		if list, ok := s.Items.([]*validator.Schema); ok && i < len(list) {
			add(t.of(list[i], item))
		}
		if i < len(s.PrefixItems) {
			add(t.of(s.PrefixItems[i], item))
		}
		add(t.any(s.Items, item))
	}
	t.kept[at] = steps
	return steps
}

// any is the steps of what may be a schema, and may be something else.
func (t *tally) any(s any, n *node) int {
	schema, _ := s.(*validator.Schema)
	return t.of(schema, n)
}

// matching is the steps of a pattern on a text, of which one takes as long as a visit.
func matching(p validator.Regexp, n *node) int {
	const perStep = 64 // instructions times bytes
	own, _ := p.(*pattern.Pattern)
	text, _ := n.value.(string)
	if own == nil || text == "" {
		return 0
	}
	return 1 + min(len(text), math.MaxInt32)*own.Size()/perStep
}

// A shape is what a schema is like, as far as the work goes that it makes.
type shape struct {
	size    int // schemas within it
	refers  bool
	matches bool
	anchors map[string][]*validator.Schema
	forks   bool // see [Schema.Forks]
}

// simple reports whether a document of some bytes cannot take too many steps:
// without references a schema is a tree, and each part visits a value once.
func (sh *shape) simple(bytes int) bool {
	return !sh.refers && !sh.matches && sh.size*(bytes+1) <= mostSteps
}

// inPlace are the schemas that a schema applies to the value that it is applied to.
func inPlace(s *validator.Schema) []*validator.Schema {
	list := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)),
		[]*validator.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else})
	for _, d := range s.Dependencies {
		inner, _ := d.(*validator.Schema)
		list = append(list, inner)
	}
	return known(list)
}

func known(list []*validator.Schema) []*validator.Schema {
	return slices.DeleteFunc(list, func(s *validator.Schema) bool { return s == nil })
}

// within are all schemas that a schema has directly.
func within(s *validator.Schema) []*validator.Schema {
	list := slices.Concat(inPlace(s), s.PrefixItems, slices.Collect(maps.Values(s.Properties)), slices.Collect(maps.Values(s.PatternProperties)),
		[]*validator.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems})
	for _, other := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		switch v := other.(type) {
		case *validator.Schema:
			list = append(list, v)
		case []*validator.Schema:
			list = append(list, v...)
		}
	}
	if s.DynamicRef != nil {
		list = append(list, s.DynamicRef.Ref)
	}
	return known(list)
}

func shapeOf(root *validator.Schema) (*shape, error) {
	sh := &shape{anchors: map[string][]*validator.Schema{}}
	seen := map[*validator.Schema]bool{root: true}
	for todo := []*validator.Schema{root}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		sh.size++
		sh.refers = sh.refers || s.Ref != nil || s.RecursiveRef != nil || s.DynamicRef != nil
		sh.matches = sh.matches || s.Pattern != nil || s.PatternProperties != nil
		if s.Enum != nil {
			sh.size += len(s.Enum.Values)
		}
		if s.DynamicAnchor != "" {
			sh.anchors[s.DynamicAnchor] = append(sh.anchors[s.DynamicAnchor], s)
		}
		for _, inner := range within(s) {
			if !seen[inner] {
				seen[inner] = true
				todo = append(todo, inner)
			}
		}
	}
	if !sh.refers {
		return sh, nil
	}
	all := slices.Collect(maps.Keys(seen))
	if sh.circular(all) {
		return nil, errors.New("schema: it refers to itself for one and the same value; refer to it from properties or items")
	}
	sh.forks = forks(all)
	return sh, nil
}

// forks reports whether a schema leads back to itself from two of the schemas that
// it applies to the same value.
func forks(all []*validator.Schema) bool {
	of := components(all, within)
	return slices.ContainsFunc(all, func(s *validator.Schema) bool {
		back := 0
		for _, inner := range inPlace(s) {
			if of[inner] == of[s] {
				back++
			}
		}
		return back > 1
	})
}

// circular reports whether a schema applies itself to the value that it is applied
// to, so that no value is ever checked.
func (sh *shape) circular(all []*validator.Schema) bool {
	next := func(s *validator.Schema) []*validator.Schema {
		list := inPlace(s)
		if s.DynamicRef != nil {
			list = slices.Concat(list, []*validator.Schema{s.DynamicRef.Ref}, sh.anchors[s.DynamicRef.Anchor])
		}
		return list
	}
	of := components(all, next)
	return slices.ContainsFunc(all, func(s *validator.Schema) bool {
		return slices.ContainsFunc(next(s), func(inner *validator.Schema) bool { return of[inner] == of[s] })
	})
}

// components numbers the schemas so that two have the same number if each leads to
// the other (Tarjan, Depth-First Search and Linear Graph Algorithms, 1972).
func components(all []*validator.Schema, next func(*validator.Schema) []*validator.Schema) map[*validator.Schema]int {
	place, low, of := map[*validator.Schema]int{}, map[*validator.Schema]int{}, map[*validator.Schema]int{}
	var path []*validator.Schema
	var walk func(*validator.Schema)
	walk = func(s *validator.Schema) {
		place[s] = len(place) + 1
		low[s] = place[s]
		path = append(path, s)
		for _, to := range next(s) {
			if place[to] == 0 {
				walk(to)
				low[s] = min(low[s], low[to])
			} else if of[to] == 0 {
				low[s] = min(low[s], place[to])
			}
		}
		if low[s] == place[s] {
			i := slices.Index(path, s)
			for _, member := range path[i:] {
				of[member] = place[s]
			}
			path = path[:i]
		}
	}
	for _, s := range all {
		if place[s] == 0 {
			walk(s)
		}
	}
	return of
}
