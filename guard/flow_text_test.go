package guard

import (
	"slices"
	"strings"
	"testing"
)

// A value stands in a text by itself or not at all.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"Write to bob@corp.example.", "bob@corp.example", true},
		{"<Bob@Corp.example>", "bob@corp.example", true},
		{"mailto:bob@corp.example?x", "bob@corp.example", true},
		{"Bob's file", "bob", true},
		{"see @bob", "bob", true},
		{"notbob@corp.example", "bob@corp.example", false},
		{"bob@corp.example.org", "bob@corp.example", false},
		{"a.bob@corp.example", "bob@corp.example", false},
		{"bob@corp.example", "corp.example", false},
		{"bob@corp.example", "bob", false},
		{"www.corp.example", "corp.example", false},
		{"https://corp.example/a", "corp.example", true},
		{"HTTPS://Corp.example/a", "https://corp.example/a", true},
		{"at corp.example/a", "https://corp.example/a/", true},
		{"at https://corp.example/a", "http://corp.example/a", false},
		{"https://corp.example/start", "https://corp.example/StArt", false}, // the case may hold a secret
		{"out/report.txt", "./out/report.txt", true},
		{"report.txt.gz", "report.txt", false},
		{"x/etc", "/etc", false},
		{"at /etc", "/etc", true},
		{"https://x.example/", "/", false},
		{"test ./... now", "./...", true},
		{"issue #42", "42", true},
		{"issues/42", "42", true},
		{"T-42", "42", false},
		{"10:42", "42", false},
		{"b\u200bob", "bob", false},
		{"ALPHA\n Beta", "alpha beta", true},
		{"alpha, beta", "alpha beta", false},
		{"K\u212A", "kk", false},
		{"rm -r build --dry-run", "rm -r build", false},
		{"git branch -d old", "git branch -D old", false},
		{"git branch -d old", "git branch -d old", true},
		{"予約はR-1を2名で", "R-1", true},
		{"田中さんに", "田中", true},
		{"Größe ÄNDERN", "größe ändern", true},
		{"", "x", false},
		{"x", "", false},
	} {
		v, in := valueOf("arg", c.value, '"'), textOf("here", c.text)
		if got := in.holds(&v); got != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, got)
		}
	}
}

// Numbers, dates, times and accounts are the same however they are written.
func TestFacts(t *testing.T) {
	for text, want := range map[string]string{
		"Pay 1,200.50 or $50.00":             "1200.5 50",
		"1.200,50 and 1 200,50 and 1’200.50": "1200.5",
		"1.200 or 1,200":                     "1.2 1200",
		"12,34":                              "12.34",
		"1,234,567":                          "1234567",
		"0,125":                              "0.125",
		"-8 degrees, 3-5":                    "-8",
		"٥٠ and ５０":                          "50",
		"T-9, v3, 007, 10.0.0.1":             "",
		"7.":                                 "7",
		"on 2026-03-04T09:30:00Z":            "09:30 2026-03-04",
		"4.3.2026, 9:30":                     "09:30 2026-03-04 2026-04-03",
		"2026年3月4日":                          "2026-03-04",
		"DE89 3704 0044 0532 0130 00, soon":  "DE89370400440532013000",
		"call +1 (415) 555-2671":             "+14155552671",
		"5e1":                                "50",
		"99999999999999999999 is not 1e20":   "100000000000000000000 99999999999999999999",
	} {
		var got []string
		for fact := range factsOf(text) {
			if len(got) == 0 || !slices.Contains(got, fact) {
				got = append(got, fact)
			}
		}
		for fact := range strings.FieldsSeq(want) {
			if !slices.Contains(got, fact) {
				t.Errorf("%q does not have %s: %q", text, fact, got)
			}
		}
		if want == "" && len(got) > 0 {
			t.Errorf("%q has %q", text, got)
		}
	}
	for value, want := range map[string]string{
		"2026-03-04": "2026-03-04", "2026-03-04T09:30:00+01:00": "2026-03-04 09:30", "09:30": "09:30", "2026-03-04 09:30": "2026-03-04 09:30",
		"": "", "Z": "", "soon": "", "2026-03-04 or later": "",
	} {
		if got := strings.Join(momentOf(value), " "); got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}

// FuzzHolds: a text holds itself, and what it holds in words stands in it.
func FuzzHolds(f *testing.F) {
	f.Add("Write to bob@corp.example, 1,200.50", "bob@corp.example")
	f.Add("a\u200bb ＠ K 2026-03-04", "k")
	f.Fuzz(func(t *testing.T, text, value string) {
		v, in := valueOf("arg", value, '"'), textOf("here", text)
		if v.facts == nil && in.holds(&v) && !slices.ContainsFunc(v.forms, func(s string) bool { return strings.Contains(in.lower, lower(s)) }) {
			t.Errorf("%q is found in %q", value, text)
		}
		place(text)
	})
}

func TestPlace(t *testing.T) {
	for text, want := range map[string]bool{
		"evil.com/key": true, "s3cr3t.evil.com": true, "203.0.113.5/x": true, "203.0.113.5": true, "[2001:db8::1]/x": true, "//evil.com/x": true,
		`HTTP:\\evil.com\x`: true, "https://evil.com/a b": true, "s3cr3t@evil.com": true, `\\evil.com\x`: true, "mailto:eve": true, "evil.com:443": true,
		"evil.sh/x": true, "x.evil.rs": true, "WWW.EVIL.COM.": true, "evil.com?k": true, "user@evil.com/x": true, "s3cr3t。evil。com": true, "bücher.example/x": true,
		"main.rs": false, "a.b.c": false, "src/main.go": false, "README.md": false, "notes": false, "1.5": false, "v1.2.3": false, "@ann": false,
		"conf.d/x": false, "evil.com is bad": false, "a/evil.com": false, "key: value": false, "": false, "evil.info": false, // it may be a file
		"evil.com": true, "0x7f000001": true, "3405803777/x": true, "0313.0.0161.05": true, "127.1/x": true, "0xCB.1": true, "git@evil:x": true, "ｅｖｉｌ．com/x": true, "evil\u00ad.com": true,
		"3405803777": false, "04.12.2026": false, "12:30": false, "2026/11": false, "fmt.Println": false, "std::vector": false, "0xffff": false, "1_0.0.0.1": false,
	} {
		if got := place(text); got != want {
			t.Errorf("%q is a place: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		"see evil.com/x, it is good":             "evil.com/x",
		"https%253A%252F%252Fevil.example%252Fx": "https://evil.example/x",
		`{"img":"\/\/evil.example\/x"}`:          "//evil.example/x",
		`evil\u002ecom/x or a&#46;evil.com`:      "evil.com evil.com/x a.evil.com",
		"SELECT o.id FROM db.public.orders o WHERE o.state = 1.5 AND a = '2026-11-04 10:30'": "",
		"calc.go:7: undefined: fmt.Println, version 1.2.3, std::vector, lib@2, @ann":         "",
		"site:docs.python.org asyncio":         "docs.python.org",
		"http_get('https://evil.example/'||k)": "https://evil.example/",
		"img:evil.com/x, 203.0.113.5.":         "evil.com/x 203.0.113.5",
		"ask eve@evil.com or git@evil:x":       "eve@evil.com git@evil:x",
		"100% of it, 50%25 and \\u00e9":        "",
	} {
		v := valueOf("q", text, '"')
		var got []string
		for _, at := range placesIn(&v) {
			got = append(got, at.text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the places %q", text, got)
		}
	}
	for name, want := range map[string]bool{"server": true, "dns_server": true, "mirrorUrl": true, "targets": true, "site-id": true, "serves": false, "query": false, "id": false, "shipment": false} {
		if called(name, ofPlaces) != want {
			t.Errorf("%s is called a place: %v", name, !want)
		}
	}
}

// A text that is encoded very often, or a word of very many parts, is not looked through: it counts as a place.
func TestTextsThatAreNotLookedThrough(t *testing.T) {
	for _, text := range []string{"%" + strings.Repeat("25", 40) + "2e", strings.Repeat("a:", 40) + "evil.com/x"} {
		if found := placesIn(new(valueOf("url", text, '"'))); len(found) != 1 || found[0].text != text {
			t.Errorf("of %s these are places: %+v", text, found)
		}
	}
}
