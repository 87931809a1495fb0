package jsonschema

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// anything accepts every JSON value.
var anything = open(nil)

// open is a matcher without constraints whose inner values match inner, or
// itself if that is nil.
func open(inner *matcher) *matcher {
	m := &matcher{
		kinds: null | boolean | integer | number | text | array | object,
		most:  math.MaxInt, utmost: math.MaxInt, peak: math.MaxInt,
		low: math.MinInt64, high: math.MaxInt64,
		items: inner, extra: inner,
	}
	if inner == nil {
		m.items, m.extra = m, m
	}
	return m
}

// dialects are the drafts in which the keywords known here mean the same.
var dialects = []string{
	"https://json-schema.org/draft/2020-12/schema",
	"https://json-schema.org/draft/2020-12/schema#",
	"https://json-schema.org/draft/2019-09/schema",
	"https://json-schema.org/draft/2019-09/schema#",
	"http://json-schema.org/draft-07/schema",
	"http://json-schema.org/draft-07/schema#",
}

// compileMatcher makes the matcher of a schema that the library has accepted,
// or nil.
func compileMatcher(schema any) *matcher {
	m, ok := schema.(map[string]any)
	if !ok {
		return build(schema)
	}
	if s, ok := m["$schema"]; ok {
		dialect, _ := s.(string)
		if !slices.Contains(dialects, dialect) {
			return nil
		}
		m = maps.Clone(m)
		delete(m, "$schema")
	}
	return build(m)
}

// build makes the matcher of a schema, or nil if it has any keyword that is not
// known. A nil matcher below the top says "don't know" only when a document
// gets there. All keywords known here restrict independently of each other, so
// the matchers of parts can be put together part by part.
func build(schema any) *matcher {
	if b, ok := schema.(bool); ok {
		if b {
			return anything
		}
		return nil
	}
	keywords, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	b := builder{m: open(anything), keywords: keywords, ok: true}
	for name, value := range keywords {
		b.keyword(name, value)
	}
	b.object()
	if !b.ok {
		return nil
	}
	return b.m
}

type builder struct {
	m        *matcher
	keywords map[string]any
	ok       bool
}

func (b *builder) keyword(name string, value any) {
	m := b.m
	switch name {
	case "title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$defs", "definitions":
	case "properties", "required", "additionalProperties": // see object
	case "type":
		m.kinds = b.types(value)
	case "enum":
		values, ok := value.([]any)
		b.words(values, ok)
	case "const":
		b.words([]any{value}, true)
	case "minimum":
		b.low(b.int(value))
	case "exclusiveMinimum":
		b.low(b.int(value) + 1)
	case "maximum":
		b.high(b.int(value))
	case "exclusiveMaximum":
		b.high(b.int(value) - 1)
	case "minLength":
		m.sized, m.shortest = true, b.count(value)
	case "maxLength":
		m.sized, m.most = true, b.count(value)
	case "items":
		m.items = build(value)
		_, list := value.([]any) // the form of draft-07, one schema per item
		b.ok = b.ok && !list
	case "minItems":
		m.fewest = b.count(value)
	case "maxItems":
		m.utmost = b.count(value)
	case "minProperties":
		m.least = b.count(value)
	case "maxProperties":
		m.peak = b.count(value)
	default:
		b.ok = false
	}
}

// low and high take inclusive bounds. An exclusive one moves by one, which for
// numbers that are not whole is stricter than need be.
func (b *builder) low(n int64) {
	b.m.bounded, b.m.low = true, max(b.m.low, n)
}

func (b *builder) high(n int64) {
	b.m.bounded, b.m.high = true, min(b.m.high, n)
}

// int reads a bound. One that is not whole or needs more than 32 bits is given
// up, which leaves room to add one to it.
func (b *builder) int(value any) int64 {
	number, _ := value.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n < -1<<32 || n > 1<<32 {
		b.ok = false
		return 0
	}
	return n
}

// count reads a size. Absurd ones are given up: the library's conversion to int
// may wrap around.
func (b *builder) count(value any) int {
	n := b.int(value)
	b.ok = b.ok && 0 <= n && n < 1<<30
	return int(n & (1<<30 - 1))
}

var kindOf = map[string]kinds{
	"null": null, "boolean": boolean, "integer": integer, "number": number | integer,
	"string": text, "array": array, "object": object,
}

func (b *builder) types(value any) kinds {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all kinds
	for _, t := range list {
		name, _ := t.(string)
		k, known := kindOf[name]
		b.ok = b.ok && known
		all |= k
	}
	return all
}

// words takes the strings among the allowed values; the others stay unknown.
func (b *builder) words(values []any, ok bool) {
	if b.m.words != nil || !ok {
		b.ok = false // enum and const together
		return
	}
	b.m.words = []string{}
	for _, v := range values {
		if s, ok := v.(string); ok {
			b.m.words = append(b.m.words, s)
		}
	}
}

func (b *builder) object() {
	m := b.m
	if other, ok := b.keywords["additionalProperties"]; ok {
		m.extra = build(other)
	}
	if value, ok := b.keywords["properties"]; ok {
		properties, ok := value.(map[string]any)
		b.ok = b.ok && ok
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			m.properties = append(m.properties, property{name, build(properties[name])})
		}
	}
	if value, ok := b.keywords["required"]; ok {
		required, ok := value.([]any)
		b.ok = b.ok && ok
		for _, r := range required {
			name, ok := r.(string)
			b.ok = b.ok && ok
			i := slices.IndexFunc(m.properties, func(p property) bool { return p.name == name })
			if i < 0 {
				i = len(m.properties)
				m.properties = append(m.properties, property{name, m.extra})
			}
			m.required |= 1 << min(i, 63)
		}
	}
	if len(m.properties) > 64 {
		b.ok = false
	}
	if len(m.properties) > 8 {
		m.index = make(map[string]int, len(m.properties))
		for i, p := range m.properties {
			m.index[p.name] = i
		}
	}
}
