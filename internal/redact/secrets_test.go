package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var lowered = regexp.MustCompile(`%..`)

const canary = `cAn+ary/7&"ß"\kEy=42`

func known(t testing.TB, values map[string]string) *Secrets {
	t.Helper()
	s, err := New(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wrapped breaks a text into lines, as base64 and xxd do.
func wrapped(s string, width int, end string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + end)
		s = s[width:]
	}
	return b.String() + s
}

// ways are encodings of a value, each with what encodes it.
func ways(value string) map[string]string {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	nested := quoted(quoted(value))
	all := map[string]string{
		"plain": value, "JSON": quoted(value), "JSON in JSON": nested,
		"JSON of JavaScript": strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(quoted(value)),
		"JSON of Python":     `"cAn+ary/7&\"\u00df\"\\kEy=42"`,
		"JSON of PHP":        `"cAn+ary\/7&\"\u00df\"\\kEy=42"`,
		"URL query":          url.QueryEscape(value), "URL path": url.PathEscape(value),
		"URL in lower case": lowered.ReplaceAllStringFunc(url.QueryEscape(value), strings.ToLower),
		"hex":               hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"hex in lines": wrapped(hex.EncodeToString([]byte(value)), 10, "\n"),
	}
	for before := range 4 {
		for after := range 3 {
			data := []byte(strings.Repeat("<", before) + value + strings.Repeat("\n", after))
			for name, coding := range map[string]*base64.Encoding{
				"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding,
			} {
				text := coding.EncodeToString(data)
				all[fmt.Sprintf("base64 %s, %d before, %d after", name, before, after)] = text
				all[fmt.Sprintf("base64 %s in lines, %d before, %d after", name, before, after)] = wrapped(text, 8, "\r\n")
			}
		}
	}
	return all
}

func TestScrub(t *testing.T) {
	s := known(t, map[string]string{"CANARY": canary, "OTHER": "other-secret"})
	for how, text := range ways(canary) {
		got := s.Scrub("before " + text + " after")
		if !strings.Contains(got, "{{secret:CANARY}}") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q becomes %q", how, text, got)
		}
		if again := s.Scrub(got); again != got {
			t.Errorf("%s: scrubbed twice it is %q", how, again)
		}
	}
	if got, want := s.Scrub("other-secretother-secret!"), "{{secret:OTHER}}{{secret:OTHER}}!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of base64, at most the bits that its neighbours share are left beside the reference.
func TestScrubLeavesNothingToGuessFrom(t *testing.T) {
	const value = "0123456789abcdef"
	s := known(t, map[string]string{"K": value})
	for before := range 3 {
		for after := range 3 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value + strings.Repeat("x", after)))
			left := strings.Replace(s.Scrub(text), "{{secret:K}}", "", 1)
			if most := 4 + 4; len(left) > most {
				t.Errorf("%d before, %d after: %q is left of %q", before, after, left, text)
			}
		}
	}
}

func TestTheLongestSecretIsMeant(t *testing.T) {
	s := known(t, map[string]string{"A": "hunter2", "B": "hunter2-and-more", "C": "secret"})
	for in, want := range map[string]string{
		"hunter2-and-more":        "{{secret:B}}",
		"hunter2-and":             "{{secret:A}}-and",
		"{{secret:A}} secret":     "{{secret:A}} {{secret:C}}",
		"{{secret:UNKNOWN}}":      "{{{{secret:C}}:UNKNOWN}}",
		"nothing to see here\n\n": "nothing to see here\n\n",
	} {
		if got := s.Scrub(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestScrubJSON(t *testing.T) {
	s := known(t, map[string]string{"K": canary, "N": "12345678"})
	doc, _ := json.Marshal(map[string]any{"a": []string{canary}, canary: 1})
	got := string(s.JSON(doc))
	if !json.Valid([]byte(got)) || strings.Count(got, "{{secret:K}}") != 2 {
		t.Errorf("%s becomes %s", doc, got)
	}
	if got := string(s.JSON([]byte(`{"pin": 12345678, "n": 123456789, "small": 1}`))); got != `{"pin": "{{secret:N}}", "n": "{{secret:N}}9", "small": 1}` {
		t.Error(got)
	}
}

func TestRestore(t *testing.T) {
	s := known(t, map[string]string{"K": canary, "LONG": "long enough\n"})
	for in, want := range map[string]string{
		"{{secret:K}}{{secret:LONG}}": canary + "long enough\n",
		"{{secret:K":                  "{{secret:K",
		"{{secret:X}}":                "{{secret:X}}",
		"{{secret:{{secret:K}}}}":     "{{secret:" + canary + "}}",
		"none":                        "none",
	} {
		if got := s.Restore(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	var none *Secrets
	if none.Restore("{{secret:K}}") != "{{secret:K}}" || none.Scrub("x") != "x" || string(none.JSON([]byte("1"))) != "1" {
		t.Error("no secrets change something")
	}
}

func TestWhatCannotBeKeptIsTold(t *testing.T) {
	s, err := New(map[string]string{"PIN": "1234", "EMPTY": "", "BAD NAME": "long enough", "GOOD": "long enough", "MARK": "x{{secret:A}}", "SPACE": "  ab  "})
	for _, part := range []string{"PIN has 4 bytes", `"BAD NAME"`, "MARK", "SPACE has 2 bytes"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not tell of %s", err, part)
		}
	}
	if strings.Contains(err.Error(), "1234") || strings.Contains(err.Error(), "EMPTY") {
		t.Error(err)
	}
	if got := s.Scrub("long enough"); got != "{{secret:GOOD}}" {
		t.Error(got)
	}
	if s, err := New(nil); s != nil || err != nil {
		t.Error(s, err)
	}
}

func TestStream(t *testing.T) {
	s := known(t, map[string]string{"K": canary, "L": canary + "-longer"})
	for how, text := range ways(canary) {
		whole := "say " + text + ", and go"
		for _, size := range []int{1, 2, 3, 7, len(whole)} {
			var got strings.Builder
			w := s.Writer(&got)
			for at := 0; at < len(whole); at += size {
				piece := whole[at:min(at+size, len(whole))]
				if n, err := io.WriteString(w, piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Close(); err != nil || got.String() != s.Scrub(whole) {
				t.Errorf("%s, %d at a time: got %q, %v, want %q", how, size, got.String(), err, s.Scrub(whole))
			}
		}
	}
	stream := s.Stream()
	if got := stream.Add("nothing c"); got != "nothing " {
		t.Errorf("got %q: what cannot be a secret is passed on at once, and nothing else", got)
	}
	if got := stream.Add("at"); got != "cat" {
		t.Errorf("got %q", got)
	}
}

// However a text is cut, a stream gives what Scrub gives, and no form of the
// secret is left in it.
func FuzzScrub(f *testing.F) {
	f.Add("say hunter2!", "hunter2", 3)
	f.Add(base64.StdEncoding.EncodeToString([]byte("x hunter2")), "hunter2", 1)
	f.Add("ababababab", "ababab", 2)
	f.Add("{{secret:K}}{{secret:K", "secret:K", 5)
	f.Fuzz(func(t *testing.T, text, value string, size int) {
		s, err := New(map[string]string{"K": value})
		if err != nil || s == nil {
			return
		}
		got := s.Scrub(text)
		if again := s.Scrub(got); again != got {
			t.Fatalf("%q of %q becomes %q, then %q", value, text, got, again)
		}
		size = 1 + max(0, size)%7
		stream := s.Stream()
		var b strings.Builder
		for at := 0; at < len(text); at += size {
			b.WriteString(stream.Add(text[at:min(at+size, len(text))]))
		}
		b.WriteString(stream.Close())
		if b.String() != got {
			t.Fatalf("%q in pieces of %d becomes %q, at once %q", text, size, b.String(), got)
		}
		if core := strings.TrimSpace(value); !strings.Contains(opening+"K"+closing, core[:1]) && strings.Contains(got, core) {
			t.Fatalf("%q of %q is left in %q", value, text, got)
		}
		doc, _ := json.Marshal(text)
		if !json.Valid(s.JSON(doc)) {
			t.Fatalf("%s becomes no JSON: %s", doc, s.JSON(doc))
		}
		Strings([]byte(text), s.Scrub)
	})
}

// What is learned is kept out from then on, also of a stream that has begun.
func TestLearned(t *testing.T) {
	var l Learned
	s := known(t, map[string]string{"A": "first-secret"}).With(&l)
	none := (*Secrets)(nil).With(&l)
	if !none.None() || none.Scrub("renewed-1") != "renewed-1" {
		t.Error("what nobody has learned is a secret")
	}
	stream := s.Stream()
	said := stream.Add("first-sec") + stream.Add("ret and renew")
	l.Add("tickets token", "renewed-1")
	l.Add("tickets token", "short")
	l.Add("tickets token", "renewed-2")
	said += stream.Add("renewed-2, ren") + stream.Add("ewed-1, short") + stream.Close()
	if want := "{{secret:A}} and renew{{secret:tickets_token}}, {{secret:tickets_token}}, short"; said != want {
		t.Errorf("%s, want %s", said, want)
	}
	for i := range mostLearned {
		l.Add("more", fmt.Sprintf("secret-%d", i))
	}
	if got := none.Scrub("renewed-1 secret-0"); got != "renewed-1 {{secret:more}}" {
		t.Error(got)
	}
	if got := string(none.JSON([]byte(`["secret-255"]`))); got != `["{{secret:more}}"]` {
		t.Error(got)
	}
}
