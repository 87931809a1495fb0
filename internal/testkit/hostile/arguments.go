package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema is the schema of the arguments in the lists below.
const Schema = `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"},"flag":{"type":"boolean"},"list":{"type":"array","items":{"type":"string"}},"any":{}},"required":["text"]}`

// Strings are texts with a special meaning to careless programs.
var Strings = []string{
	"-rf", "--", "--help", "-", "-c", "--output=/tmp/x", "@/etc/passwd", "$HOME", "${HOME}", "$(id)", "`id`", "; id", "| id", "& id", "&& id", "|| id", "> x", "< /etc/passwd", "2>&1", "*", "?", "[a-z]", "~", "!!", "#", "%s%n", "%00",
	"a\nb", "a\r\nb", "\n", "\t", " ", "  a  ", "", "'", "\"", "\\", "\\\\", "\\n", "'; id; '", "\"; id; \"", "a'b\"c", "{{secret:X}}", "{{input}}", "${IFS}id", "$'\\x41'", "\x1b[2J", "\x07", "\x7f", "\u202egnp", "\u200b", "\ufeff", "é", "日本", "🦀",
	"../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1", "{\"a\":1}", "null", "true", "1e999", "0x1F", "010", "NaN", "-0", "<script>", "]]>", "<!--", "' OR 1=1 --", "__proto__", "constructor", "PATH=/tmp", "LD_PRELOAD=x", "A=B", "a=b c",
	"\u2028", strings.Repeat("a", 100_000), strings.Repeat("../", 1000), strings.Repeat("\\", 999), strings.Repeat("\"", 999), strings.Repeat("{", 2000),
}

// Good returns unusual arguments that match the schema.
func Good() []string {
	all := []string{
		`{"text":""}`, " \n\t{ \"text\" : \"a\" }\r\n ", `{"text":"\u0041\/\b\f\n\r\t\"\\"}`, `{"text":"\ud83e\udd80"}`, `{"\u0074ext":"a"}`, `{"text":"a\u0000b"}`, `{"text":"a","n":0}`, `{"text":"a","n":-0}`, `{"text":"a","n":1.0}`,
		`{"text":"a","n":1e2}`, `{"text":"a","n":100E-2}`, `{"text":"a","n":9223372036854775808}`, `{"text":"a","n":-9223372036854775809}`, `{"text":"a","n":1e300}`, `{"text":"a","flag":true,"list":[],"any":null}`,
		`{"text":"a","any":{"text":1,"text ":2,"__proto__":{"x":1},"constructor":[],"":""}}`, `{"text":"a","any":{"a":{"a":{"a":{}}}}}`, `{"text":"a","any":0.1e-999}`, `{"text":"a","list":["","",""]}`, `{"n":1,"text":"a"}`,
		`{"text":"a","n":` + strings.Repeat("9", 900) + `}`, `{"text":"a","any":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
	}
	for _, s := range Strings {
		all = append(all, fmt.Sprintf(`{"text":%s}`, quoted(s)), fmt.Sprintf(`{"text":"a","list":["a",%s]}`, quoted(s)))
	}
	return all
}

// Bad returns texts that are not arguments for the schema.
func Bad() []string {
	const whole = `{"text":"a","n":1,"flag":true,"list":["a"],"any":{"b":null}}`
	all := []string{
		"x", "text", `"text"`, `["text"]`, `[{"text":"a"}]`, "1", "true", `"{\"text\":\"a\"}"`, `{}`, `{"Text":"a"}`, `{"TEXT":"a"}`, `{"text ":"a"}`, `{" text":"a"}`, `{"tеxt":"a"}`, `{"text\u0000":"a"}`, `{"t\u200bext":"a"}`, `{"":"a"}`,
		"\ufeff" + whole, whole + "{", whole + whole, whole + ",", whole + "x", whole + "\x00", "(" + whole + ")", "text=" + whole, "```json\n" + whole + "\n```", "<args>" + whole + "</args>", "//\n" + whole, "/**/" + whole, whole + " // so",
		`{'text':'a'}`, `{text:"a"}`, `{"text":'a'}`, `{"text":a}`, `{"text" "a"}`, `{"text":"a",}`, `{,"text":"a"}`, `{"text":"a";"n":1}`, `{"text":"a" "n":1}`, `{"text":}`, `{"text"}`, `{"text":"a`, "{\"text\":\"a\nb\"}", "{\"text\":\"a\tb\"}",
		`{"text":"\x41"}`, `{"text":"\u00g1"}`, `{"text":"\u12"}`, `{"text":"\a"}`, `{"text":"\'"}`, `{"text":undefined}`, `{"text":None}`, `{"text":"a","flag":True}`, `{"text":"a","n":NaN}`, `{"text":"a","n":Infinity}`, `{"text":"a","n":-Infinity}`,
		`{"text":"a","n":+1}`, `{"text":"a","n":01}`, `{"text":"a","n":-01}`, `{"text":"a","n":0x1F}`, `{"text":"a","n":1.}`, `{"text":"a","n":.5}`, `{"text":"a","n":1e}`, `{"text":"a","n":1_000}`, `{"text":"a","n":1,000}`, `{"text":"a","n":1.5}`, `{"text":"a","n":1e-1}`,
		`{"text":"a","n":1e999999}`, `{"text":"a","n":` + strings.Repeat("9", 2000) + `}`, `{"text":"a","any":1e99999999999999999999}`,
		`{"text":"a","text":"b"}`, `{"text":"a","\u0074ext":"b"}`, `{"text":"a","n":1,"n":1}`, `{"text":"a","any":{"a":1,"a":2}}`, `{"text":"a","any":[{"a":1,"a":1}]}`, `{"text":"a","any":{"":1,"":2}}`,
		`{"text":"a","any":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, `{"text":"a","any":` + strings.Repeat(`{"a":`, 1100) + "1" + strings.Repeat("}", 1100) + `}`, strings.Repeat("[", 100_000), strings.Repeat(`{"":`, 50_000),
	}
	for _, name := range []string{"__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "$ref", "$schema", "@type", "args", "arguments", "input", "name", "command", "env", "PATH", "LD_PRELOAD", "cwd", "dir", "effect", "timeout", "approval", "_", "-", "text2", "Text", "N", "n ", "any\u0000", "key", "call", "run"} {
		all = append(all, fmt.Sprintf(`{"text":"a",%s:{}}`, quoted(name)), fmt.Sprintf(`{%s:"a","text":"a"}`, quoted(name)))
	}
	values := map[string]string{"null": "null", "boolean": "true", "number": "0.5", "integer": "1", "string": `"1"`, "array": `["1"]`, "object": `{"1":1}`, "mixed": `["1",1]`, "nested": `[["1"]]`}
	for _, name := range []string{"text", "n", "flag", "list"} {
		fits := map[string]string{"text": "string", "n": "integer", "flag": "boolean", "list": "array"}[name]
		text := map[bool]string{true: "", false: `"text":"a",`}[name == "text"]
		for _, kind := range slices.Sorted(maps.Keys(values)) {
			if kind != fits {
				all = append(all, fmt.Sprintf("{%s%q:%s}", text, name, values[kind]))
			}
		}
	}
	for i := 1; i < len(whole); i++ {
		all = append(all, whole[:i], whole[i:])
	}
	return all
}

// quoted is a text as JSON, which leaves most as it is.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
