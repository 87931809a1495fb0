package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestScrubSplit: what a reader does not see does not part a secret, nor do the
// lines of an encoding, however they are indented.
func TestScrubSplit(t *testing.T) {
	const value = "sesame-open-4711"
	s := known(t, map[string]string{"KEY": value})
	split := func(text, with string, every int) string {
		var b strings.Builder
		for i, r := range []rune(text) {
			if i > 0 && i%every == 0 {
				b.WriteString(with)
			}
			b.WriteRune(r)
		}
		return b.String()
	}
	cases := map[string]string{}
	for name, with := range map[string]string{
		"a colour": "\x1b[31m", "a reset": "\x1b[0m", "256 colours": "\x1b[38;5;196m", "a cursor": "\x1b[2K", "a charset": "\x1b7",
		"a space without width": "\u200b", "a joiner": "\u200d", "a word joiner": "\u2060", "a mark of order": "\ufeff", "a soft hyphen": "\u00ad", "a direction": "\u202e",
		"another charset": "\x1b(B", "a title": "\x1b]0;t\x07", "a link": "\x1b]8;;http://a\x1b\\", "a colour in one": "\u009b31m", "a title in one": "\u009d0;t\u009c",
		"a line end": "\n", "a return": "\r", "a tab": "\t", "a zero": "\x00", "a bell": "\x07", "a delete": "\x7f", "a grapheme joiner": "\u034f", "a filler": "\u3164",
		"a selector": "\ufe0f", "a tag": "\U000e0041", "several": "\u200b\x1b[1m\x1b[31m\u2060",
	} {
		for _, every := range []int{1, 5} {
			cases[name] = split(value, with, every)
			cases["base64 and "+name] = split(base64.StdEncoding.EncodeToString([]byte("x"+value+"yz")), with, every)
		}
	}
	code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 30) + value + strings.Repeat("b", 30)))
	for name, end := range map[string]string{"indented": "\n    ", "tabs": "\r\n\t\t", "quoted": "\n> ", "deeply": "\n" + strings.Repeat(" ", 60), "in a table": " |\n| "} {
		cases["base64, "+name] = wrapped(code, 16, end)
		cases["hex, "+name] = wrapped(hex.EncodeToString([]byte(value)), 8, end)
	}
	for name, format := range map[string]string{"percent": "%%%02X", "percent, small": "%%%02x", "JSON": `\u%04x`, "JSON twice": `\\u%04X`, "a program": `\x%02x`, "octal": `\%03o`, "HTML": "&#%d;", "HTML, hexadecimal": "&#x%x;"} {
		all, some := "", ""
		for i, c := range []byte(value) {
			all += fmt.Sprintf(format, c)
			if some += string(c); i%3 == 0 {
				some = some[:len(some)-1] + fmt.Sprintf(format, c)
			}
		}
		cases[name], cases[name+" of some"] = all, some
	}
	cases["a list of bytes"] = wrapped(hex.EncodeToString([]byte(value)), 2, ", 0x")
	cases["bytes and colons"] = wrapped(hex.EncodeToString([]byte(value)), 2, ":")
	cases["hex with spaces"] = wrapped(hex.EncodeToString([]byte(value)), 2, " ")
	cases["decimal"], cases["decimal, listed"] = fmt.Sprintf("%d", []byte(value)), strings.Join(strings.Fields(strings.Trim(fmt.Sprintf("%d", []byte(value)), "[]")), ", ")
	for name, text := range cases {
		got := s.Scrub("before " + text + " after")
		if !strings.Contains(got, "{{secret:KEY}}") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q becomes %q", name, text, got)
		}
		for _, size := range []int{1, 3} {
			stream, streamed := s.Stream(), ""
			for rest := "before " + text + " after"; rest != ""; {
				n := min(size, len(rest))
				for n < len(rest) && !utf8.RuneStart(rest[n]) {
					n++
				}
				streamed += stream.Add(rest[:n])
				rest = rest[n:]
			}
			if streamed += stream.Close(); streamed != got {
				t.Errorf("%s, streamed: %q, whole: %q", name, streamed, got)
			}
		}
	}
	for _, text := range []string{"sesame open 4711", "sesame\x1b", "sesame-\x1b[", "sesame-open-471\u200b", "a \x1b[31mred\x1b[0m word"} {
		if got := s.Scrub(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// No run of what may stand within a secret is held back whole, or looked at again and again.
func TestScrubRuns(t *testing.T) {
	s := known(t, map[string]string{"KEY": "hunter2hunter2"})
	for _, c := range [][2]string{{"h", `\`}, {"", "%25"}, {"h\x1b[", "0"}, {"h\x1b]", "0"}, {"1", " "}, {"", "1 "}, {"h", "\u200b"}, {"", "h\x01"}, {"", "&"}} {
		text := c[0] + strings.Repeat(c[1], 1<<17)
		stream := s.Stream()
		if streamed := stream.Add(text); len(text)-len(streamed) > 4<<10 || streamed+stream.Close() != text || s.Scrub(text) != text {
			t.Errorf("%q and a run of %q: %d bytes are held back, or the text has changed", c[0], c[1], len(text)-len(streamed))
		}
	}
}

// TestKeysWithoutPrefix: keys whose vendors document a form rather than a beginning
// (core.telegram.org/bots/api, documentation.mailgun.com, docs.discord.com/developers/reference,
// www.twilio.com/docs/iam/api-keys), and others with one.
func TestKeysWithoutPrefix(t *testing.T) {
	hexes := func(n int) string { return strings.Repeat("0a1b9f", n)[:n] }
	bot := base64.RawURLEncoding.EncodeToString([]byte("123456789012345678"))
	for kind, keys := range map[string][]string{
		"telegram_token":    {"110201543:" + key("AAH", 32), "1234567890:" + key("AAH_-", 30)},
		"mailgun_key":       {"key-" + hexes(32), hexes(32) + "-" + hexes(8) + "-" + hexes(8)},
		"discord_token":     {bot + "." + key("", 6) + "." + key("", 27), bot + "." + key("", 6) + "." + key("_-", 36)},
		"twilio_key":        {"SK" + hexes(32)},
		"twilio_account":    {"AC" + hexes(32)},
		"docker_token":      {"dckr_pat_" + key("", 27)},
		"brevo_key":         {"xkeysib-" + hexes(64) + "-" + key("", 16)},
		"slack_webhook":     {"hooks.slack.com/services/" + "T0000AAAA/B0000AAAA/" + key("", 24)},
		"discord_webhook":   {"discord.com/api/webhooks/123456789012345678/" + key("_-", 66), "discordapp.com/api/v10/webhooks/123456789012345678/" + key("", 68)},
		"dropbox_token":     {"sl." + key("_-", 135)},
		"mailchimp_key":     {hexes(32) + "-us21"},
		"hubspot_token":     {"pat-na1-" + hexes(8) + "-" + hexes(4) + "-" + hexes(4) + "-" + hexes(4) + "-" + hexes(12)},
		"airtable_token":    {"pat" + key("", 14) + "." + hexes(64)},
		"netlify_token":     {"nfp_" + key("", 40)},
		"square_token":      {"EAAA" + key("_-", 58)},
		"resend_key":        {"re_" + key("", 8) + "_" + key("", 24)},
		"onepassword_token": {"ops_eyJ" + key("_-", 200)},
	} {
		for _, secret := range keys {
			for _, text := range []string{secret, "set " + secret + ", then", `{"k":"` + secret + `"}`, `line\n` + secret} {
				spans := Tokens(text)
				if len(spans) != 1 || spans[0].Kind != kind || !strings.Contains(text[spans[0].Start:spans[0].End], secret) {
					t.Errorf("%s in %q: %v", kind, text, spans)
				}
			}
		}
	}
	for _, text := range []string{
		"12:30:45", "123456789:short", "at 1234567890:8080", "10.0.0.1:12345678", hexes(32), hexes(40), "SKU 4711", "SK" + strings.Repeat("z", 32), "ACCOUNT",
		hexes(8) + "-" + hexes(4) + "-4000-8000-" + hexes(12), "www.example.com", "github.com.example.something-that-is-rather-long-for-a-name",
		"com.example.application.SomeRatherLongClassNameOfJava", "key-value-store",
	} {
		if spans := Tokens(text); spans != nil {
			t.Errorf("%q is taken for %v", text, spans)
		}
	}
}
