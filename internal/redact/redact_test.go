package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// Keys of vendors are put together here, so that no scanner takes this file for
// the place where somebody lost one.
func key(prefix string, n int) string {
	return prefix + strings.Repeat("aB3", n/3+1)[:n]
}

func TestText(t *testing.T) {
	for _, test := range []struct{ in, out string }{
		{"use " + key("sk-ant-api03-", 40) + " here", "use [redacted] here"},
		{"use " + key("sk-proj-", 40) + ".", "use [redacted]."},
		{`{"k":"` + key("ghp_", 36) + `"}`, `{"k":"[redacted]"}`},
		{`line\n` + key("ghp_", 36), `line\n[redacted]`},
		{"AKIA" + strings.Repeat("Q7", 8), "[redacted]"},
		{key("AIza", 35) + " " + key("xoxb-1", 20), "[redacted] [redacted]"},
		{"Authorization: Bearer " + key("", 30) + "\nHost: x", "Authorization: [redacted]\nHost: x"},
		{"curl -H 'Authorization: Basic dXNlcjpwYXNz' http://x", "curl -H 'Authorization: [redacted]' http://x"},
		{"sent bearer " + key("", 20), "sent bearer [redacted]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123", "[redacted]"},
		{"postgres://app:s3cr3t@db:5432/x?y=1", "postgres://app:[redacted]@db:5432/x?y=1"},
		{"redis://:hunter2@cache", "redis://:[redacted]@cache"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nrest", "[redacted]\nrest"},
		{"-----BEGIN PRIVATE KEY-----\nMIIB", "[redacted]"},
		{`{"a":"-----BEGIN PRIVATE KEY-----\nMIIB","b":1}`, `{"a":"[redacted]","b":1}`},
		{"Server=db;UID=sa;PWD=/hunter2;x", "Server=db;UID=sa;PWD=[redacted];x"},
		{"PWD=hunter2 DB_PWD=/hunter2", "PWD=[redacted] DB_PWD=[redacted]"},
		{"DB_PASSWORD=hunter2 PORT=80", "DB_PASSWORD=[redacted] PORT=80"},
		{"password: hunter2", "password: [redacted]"},
		{"  password: correcthorse\n  user: ada", "  password: [redacted]\n  user: ada"},
		{`{"api_key": "abc", "n": 1}`, `{"api_key": "[redacted]", "n": 1}`},
		{`{\"apiKey\":\"abc\",\"n\":1}`, `{\"apiKey\":\"[redacted]\",\"n\":1}`},
		{`clientSecret = "a b c"`, `clientSecret = "[redacted]"`},
		{`password := "hunter2"`, `password := "[redacted]"`},
		{"GET https://api.telegram.org/bot110201543:" + key("AAH", 32) + "/getMe", "GET https://api.telegram.org/[redacted]/getMe"},
		{"GET /x?token=abcdef&page=2", "GET /x?token=[redacted]&page=2"},
		{"Set-Cookie: sid=1; Path=/\nA: b", "Set-Cookie: [redacted]\nA: b"},
	} {
		if got := Text(test.in); got != test.out {
			t.Errorf("%q becomes %q, want %q", test.in, got, test.out)
		}
	}
}

func TestTextLeaves(t *testing.T) {
	for _, text := range []string{
		"",
		"The token is valid. Its secret: patience.",
		"input_tokens=1200 max_tokens: 4096, next_token=abcdef",
		"password: {{secret:DB}}",
		"PASSWORD=$DB_PASSWORD TOKEN=${TOKEN} SECRET=$(cat s)",
		"password = getPassword(user)",
		"token := r.Header.Get(name)",
		"password: string",
		"token = next",
		"sk-learn and sk-network-interfaces-of-old are words",
		"the bearer of bad tidings and all",
		"https://example.com:8080/a@b",
		"mailto:ada@example.com",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"eyJ is how base64 of an object begins",
		"if password == other { return }",
		"sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
		"re_entrant_function_with_a_long_name", "sl.example.org", "bot12:x", "patterns.0a1b", "the EAAA region",
		"https://discord.com/api/v10/channels/123456789012345678/messages",
		"Compare R&D spend; summarise.",
		"HOME=/home/ada\nPWD=/home/ada/src\nOLDPWD=/home/ada\n",
		`declare -x PWD="/home/ada"`,
		`set PWD=C:\Users\ada`,
	} {
		if got := Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, test := range []struct{ in, out string }{
		{`{"password": "x", "pin": 1, "token": 12, "tokens": 500}`, `{"password": "[redacted]", "pin": 1, "token": "[redacted]", "tokens": 500}`},
		{`{"secrets":["a",{"b":"c"}],"token":null,"secret":true}`, `{"secrets":["[redacted]",{"b":"c"}],"token":null,"secret":true}`},
		{`{"properties":{"password":{"type":"string"}}}`, `{"properties":{"password":{"type":"string"}}}`},
		{`{"parts":[{"opaque" : {"a":[1]},"text":"x"},{"opaque":null}]}`, `{"parts":[{"opaque" : "[redacted]","text":"x"},{"opaque":null}]}`},
		{`{"password":"{{secret:DB}}","note":"DB_PASSWORD=hunter2"}`, `{"password":"{{secret:DB}}","note":"DB_PASSWORD=[redacted]"}`},
		{`{"` + key("ghp_", 36) + `":1}`, `{"[redacted]":1}`},
		{`{"PWD":"/home/ada","OLDPWD":"/","pwd":"/x","env":["PWD=/home/ada"]}`, `{"PWD":"/home/ada","OLDPWD":"/","pwd":"[redacted]","env":["PWD=/home/ada"]}`},
		{`{"PWD":"hunter2"}`, `{"PWD":"[redacted]"}`},
		{`"password=hunter2"`, `"password=[redacted]"`},
		{`not JSON, password=hunter2`, `not JSON, password=[redacted]`},
		{`[1, 2]`, `[1, 2]`},
	} {
		if got := string(JSON([]byte(test.in))); got != test.out {
			t.Errorf("%s becomes %s, want %s", test.in, got, test.out)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"password: hunter2", `{"api_key": "abc"}`, `\"token\":\"x\"`, "https://a:b@c", "Bearer abcdefghijklmnop1", "PASSWORD='a\\'b'",
		"-----BEGIN PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", key("sk-ant-", 30), "authorization=\"[redacted]\"x", "cookie:=>`",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Text(s)
		if again := Text(out); again != out {
			t.Errorf("%q becomes %q, then %q", s, out, again)
		}
		last := 0
		for _, span := range Tokens(s) {
			if span.Start < last || span.End <= span.Start || span.End > len(s) {
				t.Fatalf("span %+v in %q", span, s)
			}
			last = span.End
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"password":"x"}`, `{"opaque":{"a":1}}`, `[{"token":[1,"a",[2]]}]`, `{"a\"b":"password=\"x\""}`, `"\ud800"`, `{"secret":{"secret":-1.5e9}}`, `x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := JSON(raw)
		if json.Valid(raw) != json.Valid(out) && json.Valid(raw) {
			t.Fatalf("%q becomes %q, which is no JSON", raw, out)
		}
		if !json.Valid(raw) {
			return
		}
		if again := JSON(out); string(again) != string(out) {
			t.Errorf("%q becomes %q, then %q", raw, out, again)
		}
	})
}
