package jsonschema

import (
	"strings"
	"testing"
)

func nested(open, inner, closing string, levels int) string {
	return strings.Repeat(open, levels) + inner + strings.Repeat(closing, levels)
}

// TestSteps: documents that would keep a run busy are refused, and others are not.
func TestSteps(t *testing.T) {
	const long = "takes too long to check"
	deep := func(levels int) string { return nested(`{"a":`, `1`, `}`, levels) }
	ones := "[" + strings.Repeat("1,", 400_000) + "1]"
	for name, c := range map[string]struct{ schema, doc, want string }{
		"two of anyOf":           {`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"type":"object"}`, deep(20), long},
		"two of allOf":           {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, deep(40), long},
		"two of oneOf":           {`{"items":{"oneOf":[{"$ref":"#"},{"$ref":"#"}]}}`, nested("[", "1", "]", 60), long},
		"if and then":            {`{"properties":{"a":{"if":{"$ref":"#"},"then":{"$ref":"#"}}}}`, deep(40), long},
		"properties twice":       {`{"properties":{"a":{"$ref":"#"}},"patternProperties":{"a":{"$ref":"#"}}}`, deep(40), long},
		"dynamic":                {`{"$dynamicAnchor":"x","properties":{"a":{"anyOf":[{"$dynamicRef":"#x"},{"$dynamicRef":"#x"}]}}}`, deep(40), "$dynamicAnchor and $recursiveAnchor are not supported"},
		"dependents":             {`{"properties":{"a":{"$ref":"#"}},"dependentSchemas":{"a":{"properties":{"a":{"$ref":"#"}}}}}`, deep(40), long},
		"few levels of two":      {`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, deep(8), ""},
		"a list":                 {`{"properties":{"a":{"$ref":"#"}}}`, deep(900), ""},
		"or null":                {`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"integer"},{"type":"null"}]}},"type":"object"}`, deep(60), ""},
		"pattern":                {`{"pattern":"^(a|aa|aaa|b?){1,300}$"}`, `"` + strings.Repeat("a", 900_000) + `"`, long},
		"pattern of names":       {`{"patternProperties":{"^(a|aa|aaa|b?){1,300}$":true}}`, `{"` + strings.Repeat("a", 900_000) + `":1}`, long},
		"large pattern":          {`{"pattern":"^(a|aa|aaa|b?){1,900}$"}`, `"a"`, "too large"},
		"pattern on a word":      {`{"pattern":"^[a-z]{1,64}$"}`, `"word"`, ""},
		"many values":            {`{"items":{"type":"integer"}}`, ones, ""},
		"many wrong values":      {`{"items":{"type":"string"}}`, ones, "value must be a string"},
		"many values, many ways": {`{"items":{"allOf":[` + strings.Repeat(`{"minimum":0},`, 50) + `{"maximum":9}]}}`, ones, long},
		"equal items":            {`{"uniqueItems":true}`, ones, "items must be unique"},
		"itself":                 {`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `1`, "refers to itself for one and the same value"},
		"each other":             {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, `1`, "refers to itself for one and the same value"},
		"a schema":               {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			problems := bounded(t, c.schema, c.doc)
			switch {
			case c.want == "" && problems != nil:
				t.Errorf("it is refused: %v", problems)
			case c.want != "" && (problems == nil || !strings.Contains(problems[0].Message, c.want)):
				t.Errorf("problems %.300v, want %q", problems, c.want)
			}
			if len(problems) > mostProblems+1 {
				t.Errorf("%d problems are listed", len(problems))
			}
		})
	}
}
