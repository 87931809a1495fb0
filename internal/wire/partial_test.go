package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

const schema = `{"type":"object","properties":{
	"title":{"type":"string","maxLength":200},
	"kind":{"type":"string","enum":["bill","offer"]},
	"due":{"type":"string","format":"date"},
	"open":{"type":"boolean"},
	"lines":{"type":"array","items":{"type":"object","properties":{"text":{"type":["string","null"]},"cents":{"type":"integer"}}}},
	"next":{"$ref":"#"}}}`

func TestComplete(t *testing.T) {
	if n := testing.AllocsPerRun(1, func() { Complete(strings.Repeat("[", 4000), nil) }); n > 1000 {
		t.Errorf("to end 4000 lists, a text is made %v times", n)
	}
	for _, c := range []struct{ text, want string }{
		{``, ``}, {"  ", ``}, {`I look`, ``}, {`"title"`, ``},
		{`{`, `{}`}, {`{"ti`, `{}`}, {`{"title"`, `{}`}, {`{"title":`, `{}`}, {`{"title": "`, `{"title": ""}`},
		{`{"title": "A b`, `{"title": "A b"}`}, {`{"title": "A \`, `{"title": "A "}`}, {`{"title": "A \u00e`, `{"title": "A "}`},
		{`{"title": "A \ud83d\ude0`, `{"title": "A "}`}, {`{"title": "A \ud83d\ude00`, `{"title": "A \ud83d\ude00"}`},
		{"{\"title\": \"A \xc3", `{"title": "A "}`}, {`{"title": "A \"`, `{"title": "A \""}`}, {`{"title": "A \\"`, `{"title": "A \\"}`},
		{`{"title": "A", "kind": "bi`, `{"title": "A"}`}, {`{"title": "A", "kind": "bill"`, `{"title": "A", "kind": "bill"}`},
		{`{"next": {"title": "A`, `{"next": {}}`}, {`{"due": "2026-1`, `{}`}, {`{"unknown": "so`, `{}`},
		{`{"open": t`, `{}`}, {`{"open": true`, `{"open": true}`}, {`{"open":nul`, `{}`},
		{`{"lines": [{"text": "x", "cents": 12`, `{"lines": [{"text": "x"}]}`}, {`{"lines": [{"text": "x", "cents": 12,`, `{"lines": [{"text": "x", "cents": 12}]}`},
		{`{"lines": [{"text": "x", "cents": 12}, {"text": "y`, `{"lines": [{"text": "x", "cents": 12}, {"text": "y"}]}`},
		{`{"lines": [{"text": "x"}], "title": "A"} and more`, `{"lines": [{"text": "x"}], "title": "A"}`},
		{"```json\n{\"title\": \"A", `{"title": "A"}`}, {"```json\n{\"title\": \"A\"}\n```", `{"title": "A"}`},
		{`[1, 2`, `[1]`}, {`[1, "a`, `[1]`}, {`{"a" 1}`, ``}, {`{"a": 1, }`, ``}, {`{]`, ``},
	} {
		if got := string(Complete(c.text, json.RawMessage(schema))); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.text, got, c.want)
		}
	}
}

// Of any beginning of any document it makes a document, or nothing, and never shows a
// scalar that the whole does not have.
func FuzzComplete(f *testing.F) {
	f.Add(`{"title":"A\u00e9\ud83d\ude00","kind":"bill","open":true,"lines":[{"text":null,"cents":-1.5e3},[],{}],"x":""}`)
	f.Add("[[\"a\", 1, {\"b\": \"\\\\\"}]]")
	f.Add(`{"a"`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 300 {
			return // the work is the square of it
		}
		var whole any
		valid := json.Unmarshal([]byte(text), &whole) == nil
		for i := range len(text) + 1 {
			got := Complete(text[:i], json.RawMessage(schema))
			if got == nil {
				continue
			}
			var part any
			if err := json.Unmarshal(got, &part); err != nil {
				t.Fatalf("%q becomes %q: %v", text[:i], got, err)
			}
			if valid && !within(part, whole) {
				t.Fatalf("%q becomes %q, which is no part of the whole", text[:i], got)
			}
		}
	})
}

func within(part, whole any) bool {
	switch part := part.(type) {
	case map[string]any:
		of, ok := whole.(map[string]any)
		for key, value := range part {
			was, has := of[key]
			ok = ok && has && within(value, was)
		}
		return ok
	case []any:
		of, ok := whole.([]any)
		ok = ok && len(part) <= len(of)
		for i := 0; ok && i < len(part); i++ {
			ok = within(part[i], of[i])
		}
		return ok
	case string:
		of, ok := whole.(string)
		return ok && strings.HasPrefix(of, part)
	}
	return part == whole
}
