package jsonschema

import (
	"fmt"
	"testing"
)

func TestSettle(t *testing.T) {
	for _, c := range []struct{ schema, text, given, value string }{
		{`{"enum":["refund","order"]}`, "", `"refund"`, `"refund"`},
		{`{"enum":["refund","order"]}`, " refund\n", "", `"refund"`},
		{`{"enum":["refund","order"]}`, `"refund"`, "", `"refund"`},
		{`{"enum":["refund","order"]}`, "maybe", "", `value must be one of "refund", "order"`},
		{`{"type":"string"}`, "", `"5"`, `"5"`},
		{`{"type":"string"}`, "5", "", `"5"`},
		{`{"type":"string"}`, "", `5`, `value must be a string, got the number 5`},
		{`{"type":["string","integer"]}`, "", `"5"`, `"5"`},
		{`{"type":["string","integer"]}`, "5", "", `5`},
		{`{"type":"integer"}`, "", `"5"`, `5`},
		{`{"type":"boolean"}`, "", `"true"`, `true`},
		{`{"anyOf":[{"type":"object"},{"const":"none"}]}`, "none", "", `"none"`},
		{`{"anyOf":[{"type":"object"},{"const":"none"}]}`, "", `"{\"a\":1}"`, `{"a":1}`},
		{`{"type":"object"}`, "```json\n{\"a\":1}\n```", "", `{"a":1}`},
		{`{"type":"object"}`, "a lot", "", `value must be an object, got the string "a lot"`},
		{`{"type":"object"}`, `{"a":1`, "", `malformed JSON: unexpected end of JSON input at offset 6`},
		{`{"type":["object","null"]}`, "", `null`, `null`},
		{`{}`, "", `"hello"`, `"hello"`},
		{`{}`, "hello", "", `malformed JSON: invalid character 'h' looking for beginning of value at offset 0`},
	} {
		var given []byte
		if c.given != "" {
			given = []byte(c.given)
		}
		value, problems := mustCompile(t, c.schema, nil).Settle(c.text, given)
		got := string(value)
		if problems != nil {
			got = fmt.Sprint(problems[0])
		}
		if got != c.value {
			t.Errorf("%s: %q and %s: %s, want %s", c.schema, c.text, c.given, got, c.value)
		}
	}
}
