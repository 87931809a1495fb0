package jsonschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
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

// schema draws a schema that refers to itself all over.
func (p *pick) schema(depth int) string {
	if depth == 0 {
		return p.of(`true`, `{"type":"string"}`, `{"$ref":"#"}`, `{"$ref":"#/$defs/d"}`, `{"pattern":"^(a|aa|b?){1,50}$"}`, `false`)
	}
	inner := func() string { return p.schema(depth - 1) }
	list := func() string {
		all := []string{inner()}
		for range p.n(4) {
			all = append(all, inner())
		}
		return strings.Join(all, ",")
	}
	var all []string
	for range 1 + p.n(3) {
		keyword := p.of("properties", "patternProperties", "additionalProperties", "propertyNames", "items", "contains", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas", "unevaluatedProperties")
		switch keyword {
		case "properties", "dependentSchemas":
			all = append(all, fmt.Sprintf(`%q:{"a":%s,"b":%s}`, keyword, inner(), inner()))
		case "patternProperties":
			all = append(all, fmt.Sprintf(`%q:{"a|b":%s}`, keyword, inner()))
		case "allOf", "anyOf", "oneOf":
			all = append(all, fmt.Sprintf(`%q:[%s]`, keyword, list()))
		case "if":
			all = append(all, fmt.Sprintf(`"if":%s,"then":%s,"else":%s`, inner(), inner(), inner()))
		default:
			all = append(all, fmt.Sprintf(`%q:%s`, keyword, inner()))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// document draws a document with many levels, or many values, or a long text.
func (p *pick) document(depth int) string {
	if depth == 0 {
		return p.of(`"x"`, `1`, `null`, `"`+strings.Repeat("a", 1<<p.n(16))+`"`)
	}
	inner := p.document(depth - 1)
	return p.of(`{"a":`+inner+`}`, `{"a":`+inner+`,"b":1}`, `[`+inner+`,1]`, `[`+strings.Repeat("1,", p.n(256)*16)+inner+`]`)
}

// FuzzSteps: whatever the schema, validating a document takes neither long nor
// much memory.
func FuzzSteps(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := make([]byte, 100)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		p := &pick{choices}
		def, text, doc := p.schema(2), p.schema(3), p.document(p.n(60))
		bounded(t, text[:len(text)-1]+`,"$defs":{"d":`+def+`}}`, doc)
	})
}

// bounded validates a document and fails if that takes too long or too much memory.
func bounded(t *testing.T, schema, doc string) []Problem {
	t.Helper()
	const mostTime, mostMemory = 20 * time.Second, 2 << 30 // of a slow machine
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime()
	s, err := Compile([]byte(schema), nil)
	if err != nil {
		return []Problem{{Message: err.Error()}}
	}
	problems := s.Validate([]byte(doc))
	runtime.ReadMemStats(&after)
	if took, bytes := processorTime()-began, after.TotalAlloc-before.TotalAlloc; took > mostTime || bytes > mostMemory {
		t.Errorf("%.200s took %v and %d MB on %.100s", schema, took, bytes>>20, doc)
	}
	return problems
}

// FuzzDecode compares the strict decoder with encoding/json on arbitrary bytes.
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
	})
}
