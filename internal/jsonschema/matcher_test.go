package jsonschema

import (
	"strings"
	"testing"
)

const (
	addSchema  = `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}`
	fileSchema = `{"type":"object","properties":{"path":{"type":"string","minLength":1},"mode":{"enum":["r","w"]},"lines":{"type":"object","properties":{"from":{"type":"integer","minimum":1},"to":{"type":"integer","minimum":1}},"required":["from"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":4}},"required":["path"]}`
)

// TestMatcher says of documents whether the matcher knows them to be valid. For
// those it does not know, the library decides; want is about the matcher alone.
func TestMatcher(t *testing.T) {
	many := make([]string, 64)
	for i := range many {
		many[i] = `"p` + strings.Repeat("x", i) + `":{"type":"null"}`
	}
	tests := []struct{ schema, known, unknown string }{ // documents separated by newlines
		{addSchema, `{"a":1,"b":2}
{"b":-2,"a":0}
 { "a" : 1 , "b" : 2 } `, `{"a":1}
{"a":1,"b":2,"c":3}
{"a":1,"b":2,"a":3}
{"a":1,"b":2.0}
{"a":01,"b":2}
{"a":1,"b":2}}
{"a":1,"b":2,}
{"a":1 "b":2}
{"a":1,"b":"2"}
{"\u0061":1,"b":2}
{"a":1,"b":2
{}

null`},
		{`{"type":"integer"}`, "0\n-0\n12345678901234567890123", "1.0\n1e2\n-\n00\n-01\n+1\n1.\n.5"},
		{`{"type":"integer","minimum":-3,"maximum":3}`, "3\n-3\n-0", "4\n-4\n12345678901234567890123"},
		{`{"type":"number"}`, "1\n1.5\n-0.0\n1e10\n1E-5\n2.5e+7", "1.\n1e\n1e+\n1e400\n" + strings.Repeat("9", 65)},
		{`{"minimum":0,"maximum":1}`, "0\n1\n0.5\n0.99999999999999999999999\ntrue\n\"x\"", "1.5\n-0.5\n1.0\n1e0\n2"},
		{`{"exclusiveMinimum":0,"exclusiveMaximum":3}`, "1\n2\n1.5", "0\n3\n0.5\n-1\n2.5"},
		{`{"minimum":-2}`, "-1.5\n-2\n-0.1", "-2.5\n-2.0"},
		{`{"minimum":0.5}`, "", "1"},
		{`{"type":"string"}`, `""
"a\n\"\\\/\u00e9é"`, `"\ud83d\ude00"
"\x"
"\u12"
"a
'a'
"` + "\xff" + `"
"` + "\x01" + `"`},
		{`{"type":"string","minLength":2,"maxLength":3}`, "\"éé\"\n\"abc\"", "\"é\"\n\"abcd\"\n\"\\n\\n\""},
		{`{"enum":["r","w",null,1]}`, "\"r\"\n\"w\"", "\"x\"\nnull\n1\n\"\\u0072\"\n{}"},
		{`{"const":"x"}`, `"x"`, `"y"`},
		{`{"type":["string","null"]}`, "null\n\"a\"", "1\nnul\nnulll"},
		{`{"type":"boolean"}`, "true\nfalse", "null\n\"true\"\n1\ntru\nTrue"},
		{`{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2}`, "[true]\n[ true , false ]", "[]\n[true,true,true]\n[true,]\n[1]\n[true"},
		{`{"type":"object"}`, `{"a":{"b":[{"c":1}]},"d":null}
{}`, `{"a":1,"a":2}
{"a":{"b":1,"b":2}}
{"a":[{"b":1,"b":2}]}
[]`},
		{`{"type":"object","minProperties":1,"maxProperties":2}`, `{"a":1}
{"a":1,"b":2}`, `{}
{"a":1,"b":2,"c":3}`},
		{`{"type":"object","required":["x"],"additionalProperties":{"type":"integer"}}`, `{"x":1,"y":2}`, `{"y":2}
{"x":"1"}`},
		{`{"properties":{"a":true,"b":{"type":"string","pattern":"^x"},"c":false}}`, `{"a":{"z":[]}}`, `{"b":"x"}
{"c":1}`},
		{`{"properties":{` + strings.Join(many, ",") + `},"additionalProperties":false}`, `{"p":null,"pxx":null}`, `{"q":null}
{"p":null,"p":null}`},
		{`{}`, "1\n\"a\"\n[[]]\n{}", "nan\n\n[,]"},
	}
	for _, c := range tests {
		m := mustCompile(t, c.schema, nil).fast
		for doc := range strings.SplitSeq(c.known, "\n") {
			if c.known != "" && !m.accepts([]byte(doc)) {
				t.Errorf("%s does not know %s", c.schema, doc)
			}
		}
		for doc := range strings.SplitSeq(c.unknown, "\n") {
			if m != nil && m.accepts([]byte(doc)) {
				t.Errorf("%s accepts %s", c.schema, doc)
			}
		}
	}
}

func TestNoMatcher(t *testing.T) {
	for _, schema := range []string{
		`false`,
		`{"pattern":"x"}`,
		`{"format":"date"}`,
		`{"multipleOf":2}`,
		`{"x-own":1}`,
		`{"$ref":"#/$defs/a","$defs":{"a":true}}`,
		`{"anyOf":[true]}`,
		`{"enum":["a"],"const":"a"}`,
		`{"minLength":99999999999}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true]}`,
	} {
		if mustCompile(t, schema, nil).fast != nil {
			t.Errorf("%s has a matcher", schema)
		}
	}
}

func TestMatcherAllocates(t *testing.T) {
	s := mustCompile(t, fileSchema, &Options{Closed: true})
	doc := []byte(`{"path":"é","mode":"r","lines":{"from":1},"tags":["a","b"]}`)
	if n := testing.AllocsPerRun(100, func() {
		if s.Validate(doc) != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
