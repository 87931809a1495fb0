package review

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/jsonschema"
)

// allOf is a file all of whose lines are in the difference.
func allOf(t *testing.T, path, text string) *File {
	t.Helper()
	f := &File{Path: path, text: text, hunks: []hunk{{start: 1}}}
	for range strings.Lines(text) {
		f.hunks[0].lines = append(f.hunks[0].lines, "+")
	}
	return f
}

// TestPatterns compares what the patterns match with the lines that say so.
func TestPatterns(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if _, rule, ok := strings.Cut(line, "// want "); ok {
			want = append(want, fmt.Sprintf("%d %s", n, strings.TrimSpace(rule)))
		}
		if _, rule, ok := strings.Cut(line, "// want+3 "); ok { // a comment there would say that it is meant
			want = append(want, fmt.Sprintf("%d %s", n+3, strings.TrimSpace(rule)))
		}
	}
	r := Report{Findings: patterns(allOf(t, "p.go", string(text)))}
	r.sort()
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%d %s", f.Line, strings.TrimPrefix(f.Rule, "pawl/")))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if found := patterns(&File{Path: "p.go", text: string(text)}); found != nil {
		t.Errorf("found outside the difference: %v", found)
	}
	if found := patterns(allOf(t, "p.go", "package p\nfunc (")); found != nil {
		t.Errorf("found in a file that does not parse: %v", found)
	}
}

// sarifSchema is the part of the schema of SARIF 2.1.0 that is about the keys used, with its
// rules on which of them are required and what they may be.
const sarifSchema = `{"type":"object","required":["version","runs"],"additionalProperties":false,"properties":{
 "$schema":{"type":"string"},"version":{"enum":["2.1.0"]},
 "runs":{"type":"array","items":{"type":"object","required":["tool"],"additionalProperties":false,"properties":{
  "tool":{"type":"object","required":["driver"],"additionalProperties":false,"properties":{"driver":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
   "name":{"type":"string"},
   "rules":{"type":"array","items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{
    "id":{"type":"string"},"shortDescription":{"$ref":"#/$defs/text"}}}}}}}},
  "invocations":{"type":"array","items":{"type":"object","required":["executionSuccessful"],"additionalProperties":false,"properties":{"executionSuccessful":{"type":"boolean"}}}},
  "results":{"type":"array","items":{"type":"object","required":["message"],"additionalProperties":false,"properties":{
   "ruleId":{"type":"string"},"ruleIndex":{"type":"integer","minimum":-1},
   "level":{"enum":["none","note","warning","error"]},
   "message":{"$ref":"#/$defs/text"},
   "locations":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"physicalLocation":{"type":"object","additionalProperties":false,"properties":{
    "artifactLocation":{"type":"object","additionalProperties":false,"properties":{"uri":{"type":"string","pattern":"^[^ ]+$"},"uriBaseId":{"type":"string"}}},
    "region":{"type":"object","additionalProperties":false,"properties":{"startLine":{"type":"integer","minimum":1}}}}}}}}}}}}}}},
 "$defs":{"text":{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}}}`

func TestFormats(t *testing.T) {
	r := &Report{Prefix: "sub/", Findings: []Finding{
		{File: "a b.go", Line: 3, Severity: Error, Title: "100% wrong: x, y", Evidence: "one\ntwo"},
		{File: "c:d.go", Line: 4, Severity: Note, Title: "odd", Rule: "vet/printf"},
	}}
	raw, err := r.SARIF()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.Compile([]byte(sarifSchema), nil)
	if err != nil {
		t.Fatal(err)
	}
	if problems := schema.Validate(raw); len(problems) > 0 {
		t.Errorf("%v in %s", problems, raw)
	}
	for _, part := range []string{`"uri":"sub/a%20b.go"`, `"ruleId":"` + modelRule + `","ruleIndex":0`, `"ruleId":"vet/printf","ruleIndex":1`} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("no %s in %s", part, raw)
		}
	}
	want := "::error file=sub/a b.go,line=3,title=100%25 wrong%3A x%2C y::one%0Atwo\n" +
		"::notice file=sub/c%3Ad.go,line=4,title=odd [rule vet/printf]::odd [rule vet/printf]\n"
	if got := r.GitHub(); got != want {
		t.Errorf("annotations\n%s\nwant\n%s", got, want)
	}
	want = "a b.go:3: error: 100% wrong: x, y\n    one\n    two\nc:d.go:4: note: odd [rule vet/printf]\n"
	if got := r.Text(); got != want {
		t.Errorf("text\n%s\nwant\n%s", got, want)
	}
	if raw, err = (&Report{}).SARIF(); err != nil || len(schema.Validate(raw)) > 0 {
		t.Errorf("no findings: %s, %v", raw, err)
	}
}
