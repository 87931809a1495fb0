package jsonschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// pick draws choices from bytes, and zeros when they have run out, so that a
// fuzzer's bytes are a schema and a document for it.
type pick struct{ from []byte }

func (p *pick) n(n int) int {
	if len(p.from) == 0 {
		return 0
	}
	c := p.from[0]
	p.from = p.from[1:]
	return int(c) % n
}

func (p *pick) of(choices ...string) string { return choices[p.n(len(choices))] }

var someNames = []string{"a", "b", "c", "é", "d_e"}

func (p *pick) schema(depth int) string {
	if depth == 0 {
		return p.of(`true`, `{"type":"string"}`, `{"type":"integer"}`, `false`)
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch p.n(10) {
	case 0, 1, 2, 3:
		add(`"type":"object"`)
		var properties, required []string
		for _, name := range someNames[:p.n(len(someNames)+1)] {
			properties = append(properties, fmt.Sprintf(`%q:%s`, name, p.schema(depth-1)))
		}
		for _, name := range someNames {
			if p.n(3) == 1 {
				required = append(required, fmt.Sprintf("%q", name))
			}
		}
		add(`"properties":{%s}`, strings.Join(properties, ","))
		add(`"required":[%s]`, strings.Join(required, ","))
		switch p.n(5) {
		case 0:
			add(`"additionalProperties":false`)
		case 1:
			add(`"additionalProperties":%s`, p.schema(depth-1))
		case 2:
			add(`"minProperties":%d,"maxProperties":%d`, p.n(3), p.n(5))
		}
	case 4:
		add(`"type":"array","items":%s,"minItems":%d,"maxItems":%d`, p.schema(depth-1), p.n(2), 1+p.n(4))
	case 5:
		add(`"type":"string","minLength":%d,"maxLength":%d`, p.n(3), p.n(5))
	case 6:
		add(`"type":%q`, p.of("integer", "number"))
		add(`%q:%s`, p.of("minimum", "exclusiveMinimum"), p.of("0", "-2", "1", "1.5", "5e0"))
		add(`%q:%s`, p.of("maximum", "exclusiveMaximum"), p.of("3", "1", "100", "2.5"))
	case 7:
		add(`"enum":["a","é",1,null,"b\nc",{"a":1}]`)
	case 8:
		add(`"type":[%q,%q]`, p.of("string", "integer"), p.of("null", "boolean", "number", "object", "array"))
	case 9:
		add("%s", p.of(`"const":"a"`, `"minimum":1`, `"maxLength":1`, `"required":["a"]`, `"multipleOf":2`, `"not":{"type":"null"}`,
			`"pattern":"^a"`, `"uniqueItems":true`, `"anyOf":[{"type":"string"},{"minimum":2}]`, `"propertyNames":{"maxLength":1}`, `"format":"date"`))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// document draws a document that a schema would mostly accept.
func (p *pick) document(schema any, depth int) string {
	m, _ := schema.(map[string]any)
	wild := p.n(16) == 15
	kind := m["type"]
	if list, ok := kind.([]any); ok {
		kind = list[p.n(2)]
	}
	if kind == nil || wild || depth == 0 {
		kind = []any{"string", "integer", "null", "boolean", "number", "object", "array"}[p.n(7)]
	}
	if _, ok := m["enum"]; ok && !wild {
		return p.of(`"a"`, `"é"`, `1`, `null`, `"b\nc"`, `"\u0061"`, `{"a":1}`, `{"a":1,"a":1}`)
	}
	gap := p.of("", "", "", " ", "\n\t")
	switch kind {
	case "object":
		properties, _ := m["properties"].(map[string]any)
		required, _ := m["required"].([]any)
		var all []string
		for _, name := range append(someNames, "z") {
			inner, named := properties[name]
			needed := slices.Contains(required, any(name))
			if odd := p.n(8) == 7; odd == (named || needed) {
				continue
			}
			for range 1 + p.n(8)/7 {
				all = append(all, fmt.Sprintf(`"%s"%s:%s`, name, gap, p.document(inner, max(depth-1, 0))))
			}
		}
		return "{" + strings.Join(all, gap+",") + gap + "}"
	case "array":
		var all []string
		for range p.n(4) {
			all = append(all, p.document(m["items"], max(depth-1, 0)))
		}
		return "[" + gap + strings.Join(all, ","+gap) + "]"
	case "string":
		return p.of(`""`, `"a"`, `"ab"`, `"éa"`, `"\n"`, `"\u00e9"`, `"\ud800"`, "\"\xff\"", `"abcdef"`, `"2020-01-01"`, `"\ud83d\ude00"`)
	case "integer", "number":
		return p.of("1", "0", "2", "-1", "-0", "3", "1.5", "2.0", "1e1", "-0.5", "2.75", "99.9", "01", "100", "1e999999999", "0.0001", "123456789012345678901")
	case "boolean":
		return p.of("true", "false", "tru")
	}
	return "null"
}

// check compares the matcher with the library, and reports whether the matcher
// knew the document.
func check(t *testing.T, choices []byte) bool {
	p := &pick{choices}
	text := p.schema(3)
	s, err := Compile([]byte(text), nil)
	if err != nil {
		return false // such as minLength beyond what is allowed
	}
	doc := []byte(p.document(s.doc, 4))
	if len(doc) > 0 && p.n(4) == 3 { // one byte changed
		doc[(p.n(256)<<8+p.n(256))%len(doc)] = `{}[],:"\ 019-.eEtfnu`[p.n(20)]
	}
	if s.fast == nil || !s.fast.accepts(doc) {
		return false
	}
	if problems := s.validate(doc); problems != nil {
		t.Fatalf("the matcher of %s accepts %q, the library says %v", text, doc, problems)
	}
	return true
}

func FuzzAcceptor(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(someBytes(random))
	}
	f.Fuzz(func(t *testing.T, choices []byte) { check(t, choices) })
}

func someBytes(random *rand.Rand) []byte {
	b := make([]byte, 100+random.IntN(200))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// TestAcceptor is the property of FuzzAcceptor on fixed random choices, and that
// it is not vacuous.
func TestAcceptor(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const rounds = 4000
	known := 0
	for range rounds {
		if check(t, someBytes(random)) {
			known++
		}
	}
	if known < rounds/10 {
		t.Errorf("the matcher knew %d of %d documents, too few to tell anything", known, rounds)
	}
	t.Logf("the matcher knew %d of %d", known, rounds)
}

// FuzzDecode compares the strict decoder, and the matcher that accepts anything,
// with encoding/json on arbitrary bytes.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `{"a":1,"a":2}`, `"\ud800"`, "\xff", `[1,]`, `{"a" 1}`, ``, `1 2`, `"\ud83d\ude00"`, `"\\ud800"`, `-`, `1e5000`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		value, problem := decode(doc)
		if problem == nil {
			if !json.Valid(doc) || !utf8.Valid(doc) {
				t.Fatalf("decode accepts %q", doc)
			}
			var plain any
			if err := json.Unmarshal(doc, &plain); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
				t.Fatalf("%q: %v", doc, err)
			}
			again, err := json.Marshal(value)
			if err != nil {
				t.Fatalf("%q: %v", doc, err)
			}
			if _, problem := decode(again); problem != nil {
				t.Fatalf("%q is refused when written again as %q: %v", doc, again, problem)
			}
		}
		if anything.accepts(doc) && problem != nil {
			t.Fatalf("the matcher accepts %q, decode says %v", doc, problem)
		}
	})
}
