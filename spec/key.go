package spec

import "slices"

// A table has the keys of one mapping of the language. The reader of a spec,
// the published schema and the reference all use it, so they agree.
type table struct {
	name  string // in the definitions of the schema
	title string // its name in problems: "the spec", "limits"
	one   string // the same where a key is missing; empty: the title
	named string // the key whose text goes with the title instead; empty: none
	about string
	keys  []key
	more  object // parts of the schema other than the keys
}

// A key is a key of a table.
type key struct {
	name      string
	value     shape
	otherwise string // the default; empty: none
	about     string // its meaning, as one sentence without the full stop
	inGo      string // the Go equivalent: Type.Field, or a function
	needed    bool
	of        []string // of a step: the kinds of steps that it belongs to; empty: all
}

// A shape is the type of a key's value. It need not describe all conditions on
// texts.
type shape struct {
	says   string // in the reference
	schema object // JSON Schema
	words  []string
	tables []*table // referenced tables
}

// object is a JSON Schema or a part of one.
type object = map[string]any

// names returns the names of the keys in their order.
func (t *table) names() []string {
	all := make([]string, len(t.keys))
	for i, k := range t.keys {
		all[i] = k.name
	}
	return all
}

// words returns the allowed words of a key.
func (t *table) words(name string) []string {
	if i := slices.IndexFunc(t.keys, func(k key) bool { return k.name == name }); i >= 0 {
		return t.keys[i].value.words
	}
	return nil
}

// The shapes of single values.
var (
	aText      = shape{says: "text", schema: object{"type": "string", "pattern": `\S`}}
	anyText    = shape{says: "text", schema: object{"type": "string"}}
	aFlow      = shape{says: "boolean or `strict`", schema: object{"enum": []any{true, false, "strict"}}}
	aFlag      = shape{says: "boolean", schema: object{"type": "boolean"}}
	aModel     = shape{says: "PROVIDER/NAME", schema: object{"type": "string", "pattern": `\S`}}
	aCondition = shape{says: "[condition](command.md#conditions)", schema: object{"type": "string"}}
	aDuration  = shape{says: "duration", schema: object{"type": "string", "pattern": `^\+?([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`}}
	aSize      = shape{says: "size", schema: object{"anyOf": []any{
		object{"type": "number", "minimum": 1, "maximum": 1 << 30},
		object{"type": "string", "pattern": `^\+?[0-9.]+ *([KkMmGg]?[Ii]?[Bb])? *$`},
	}}}
	aSchema  = shape{says: "JSON Schema", schema: object{"type": "object"}}
	wordList = shape{says: "list of texts", schema: object{"type": "array", "items": anyText.schema}}
	argv     = shape{says: "list of texts", schema: object{"type": "array", "minItems": 1, "items": object{"type": []any{"string", "number", "boolean"}}}}
)

// aCount is a whole number.
func aCount(least int) shape {
	return shape{says: "integer", schema: object{"type": "integer", "minimum": least}}
}

// aMeasure is a number that is not negative, or positive.
func aMeasure(positive bool) shape {
	if positive {
		return shape{says: "number", schema: object{"type": "number", "exclusiveMinimum": 0}}
	}
	return shape{says: "number", schema: object{"type": "number", "minimum": 0}}
}

// oneOf is one of a few words.
func oneOf(words ...string) shape {
	s := shape{words: words, schema: object{"enum": anyOf(words)}}
	for i, w := range words {
		if i > 0 {
			s.says += ", "
		}
		s.says += "`" + w + "`"
	}
	return s
}

func anyOf[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

func listOf(s shape) shape {
	return shape{says: "list of " + s.says, schema: object{"type": "array", "items": s.schema}, tables: s.tables}
}

// mapOf is a mapping with arbitrary keys.
func mapOf(s shape) shape {
	return shape{says: "mapping to " + s.says, schema: object{"type": "object", "additionalProperties": s.schema}, tables: s.tables}
}

// in is a mapping with the keys of a table.
func in(t *table) shape {
	return shape{says: "[" + t.title + "](#" + t.name + ")", schema: object{"$ref": "#/$defs/" + t.name}, tables: []*table{t}}
}

// either is one of several shapes.
func either(all ...shape) shape {
	var s shape
	var schemas []any
	for i, one := range all {
		if i > 0 {
			s.says += ", or "
		}
		s.says += one.says
		s.tables = append(s.tables, one.tables...)
		schemas = append(schemas, one.schema)
	}
	s.schema = object{"anyOf": schemas}
	return s
}
