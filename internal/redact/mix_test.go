package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// Pieces of texts in any order are redacted once and for all, whatever stands
// beside what is taken out.
func TestTextIsIdempotent(t *testing.T) {
	pieces := []string{
		"password", "token", "api_key", "Authorization", "cookie", "next_token", ":", "=", ":=", " ", "  ", "\n", "\t", `"`, `'`, "`", `\"`, `\\\"`, `\`, `\n`,
		Marker, "[", "]", "{{secret:A}}", "{{", "$X", "${X}", "<x>", "%", "Bearer ", "basic ", "://", "http://", "a:b@", "@", "/", ",", ";", "(", ")",
		"hunter2", "word", "12345678", "null", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----", "eyJhbGciOiJI", ".eyJhbGciOiJI.", ".",
		key("sk-ant-", 30), key("ghp_", 36), "AKIAQ7Q7Q7Q7Q7Q7Q7Q7", "é", "\xff",
	}
	rng := rand.New(rand.NewPCG(1, 2)) // the same texts every time
	for range 60_000 {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		out := Text(b.String())
		if again := Text(out); again != out {
			t.Fatalf("%q becomes %q, then %q", b.String(), out, again)
		}
		doc, err := json.Marshal(map[string]any{b.String(): b.String(), "l": []string{b.String()}})
		if err != nil {
			t.Fatal(err)
		}
		clean := JSON(doc)
		if !json.Valid(clean) || string(JSON(clean)) != string(clean) {
			t.Fatalf("%s becomes %s, then %s", doc, clean, JSON(clean))
		}
	}
}
