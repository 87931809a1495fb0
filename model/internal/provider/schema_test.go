package provider

import "testing"

// The root of a tool's schema becomes a plain object that accepts no less.
func TestInput(t *testing.T) {
	const kept = `{"type":"object","properties":{"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array"}},"additionalProperties":false}`
	for schema, want := range map[string]string{
		kept:                ``,
		``:                  `{"type":"object","properties":{}}`,
		`true`:              `{"type":"object","properties":{}}`,
		`{}`:                `{"type":"object","properties":{}}`,
		`{"type":"object"}`: `{"type":"object","properties":{}}`,
		`{"properties":{"q":{"type":"string"}},"required":["q"]}`:                                                                            `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`,
		`{"type":["object","null"],"properties":{"q":{}},"description":"d"}`:                                                                 `{"type":"object","properties":{"q":{}},"description":"d"}`,
		`{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"oneOf":[{"required":["b"]}]}`:                                       `{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{},"a":{"type":"integer"}}},{"type":"null"}]}`: `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]},"b":{}}}`,
		`{"allOf":[{"$ref":"#/definitions/X"},{"required":["y"]}],"definitions":{"X":{"properties":{"x":{}},"required":["x"]}}}`:             `{"type":"object","properties":{"x":{}},"required":["x","y"]}`,
		`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"left":{"$ref":"#/$defs/T"}}}}}`:                                    `{"type":"object","properties":{"left":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"left":{"$ref":"#/$defs/T"}}}}}`,
		`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"$ref":"#/$defs/c"},"c":{"properties":{"q":{}},"not":{}}}}`:                                  `{"type":"object","properties":{"q":{}},"$defs":{"a/b":{"$ref":"#/$defs/c"}}}`,
		`{"$ref":"#"}`: `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"q":{}},"enum":[{"q":1}],"additionalProperties":false}`: `{"type":"object","properties":{"q":{}},"additionalProperties":false}`,
	} {
		if want == "" {
			want = schema
		}
		if got := string(Input([]byte(schema))); got != want {
			t.Errorf("%s became\n%s, want\n%s", schema, got, want)
		}
	}
}

// Only schemas are changed, not the names and values in them.
func TestRewrite(t *testing.T) {
	const schema = `{"type":"array","default":[{"type":"array"}],"properties":{"type":{"type":"array"},"default":{"type":"array"}},"anyOf":[{"type":"array"},true]}`
	got := string(Rewrite([]byte(schema), func(m []Member) []Member {
		if len(m) == 1 {
			m = append(m, Member{"x", []byte("1")})
		}
		return m
	}))
	const want = `{"type":"array","default":[{"type":"array"}],"properties":{"type":{"type":"array","x":1},"default":{"type":"array","x":1}},"anyOf":[{"type":"array","x":1},true]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
