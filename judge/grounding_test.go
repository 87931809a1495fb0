package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two! Three?":                                    {"One.", "Two!", "Three?"},
		"It costs 3.14 dollars. Dr. Smith paid.":              {"It costs 3.14 dollars.", "Dr. Smith paid."},
		"See e.g. Acme Inc. for more. Done.":                  {"See e.g. Acme Inc. for more.", "Done."},
		"J. R. Smith came at 5 p.m. to the U.S. Embassy.":     {"J. R. Smith came at 5 p.m. to the U.S. Embassy."},
		"Version 1.2.3 is out. It is at example.org. Get it.": {"Version 1.2.3 is out.", "It is at example.org.", "Get it."},
		"He said \"No.\" Then he left.":                       {"He said \"No.\"", "Then he left."},
		"1. First of all\n2. Second\n- third. and so on":      {"First of all", "Second", "third. and so on"},
		"# A heading\nA line that\ngoes on.\n\nAnother":       {"A line that goes on.", "Another"},
		"```go\nx := 1. + 2\n```\nThat was code.":             {"That was code."},
		"| a | b |\n|---|---|\n| 1 | 2 |":                     {"| a | b |", "| 1 | 2 |"},
		"[Acme](https://acme.example/x) sells.":               {"Acme https://acme.example/x sells."},
		"":                                                    nil,
		"...":                                                 {"."},
	} {
		got := sentences(text)
		if strings.Trim(text, ".") == "" && text != "" {
			continue // what stands for nothing may come as anything, and claims nothing
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestQuantities(t *testing.T) {
	read := func(text string) quantity {
		p := readPhrase(text)
		if len(p.numbers) != 1 {
			t.Fatalf("%q has %d numbers", text, len(p.numbers))
		}
		return p.numbers[0]
	}
	for _, c := range []struct {
		claimed, known string
		same           bool
	}{
		{"10", "10", true}, {"10", "100", false}, {"100", "10", false}, {"1,000", "1000", true}, {"1000", "1,000", true}, {"10", "10.0", true},
		{"$10", "10 dollars", true}, {"$10", "USD 10", true}, {"$10", "€10", false}, {"$10", "10", true}, {"10", "$10", true},
		{"10%", "10 percent", true}, {"10%", "0.1", true}, {"0.1", "10%", true}, {"10%", "$10", false}, {"12%", "0.1234", true}, {"13%", "0.1234", false},
		{"90 minutes", "1.5 hours", true}, {"1.5 h", "5400 seconds", true}, {"90 minutes", "90 seconds", false}, {"2 years", "24 months", true}, {"500ms", "0.5s", true},
		{"1 GB", "1024 MB", true}, {"1 GB", "1000 MB", true}, {"1 GB", "1 MB", false}, {"5 kg", "5000 g", true}, {"5 km", "5 kg", false},
		{"1.2 million", "1234567", true}, {"1.3 million", "1234567", false}, {"1.2k", "1200", true}, {"3 dozen", "36", true}, {"5m", "5 million", true},
		{"12.3", "12.345", true}, {"12.4", "12.345", false}, {"12", "12.4", true}, {"12.345", "12.3", false}, {"12", "13", false},
		{"about 1000", "950", true}, {"about 1000", "800", false}, {"over 1000", "1250", true}, {"over 1000", "900", false}, {"more than 1000", "1001", true}, {"less than 10", "9", true}, {"~50", "52", true},
		{"-5", "5", false}, {"-5", "-5.0", true}, {"three", "3", true}, {"2024", "2023", false},
	} {
		if got := read(c.claimed).is(read(c.known)); got != c.same {
			t.Errorf("%q where it is %q: %v, want %v (%+v, %+v)", c.claimed, c.known, got, c.same, read(c.claimed), read(c.known))
		}
	}
}

func TestStems(t *testing.T) {
	for _, pair := range [][2]string{{"running", "runs"}, {"passed", "pass"}, {"vendors", "supplier"}, {"cities", "city"}, {"deploy", "deployment"}, {"boxes", "box"},
		{"costs", "price"}, {"created", "added"}, {"employees", "people"}, {"renewed", "renews"}} {
		if a, b := root(pair[0]), root(pair[1]); !same(a, b) {
			t.Errorf("%s is %s, %s is %s", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"contract", "contradict"}, {"new", "news"}, {"cat", "category"}, {"V-1042", "V-10421"}, {"price", "prize"}} {
		if a, b := root(strings.ToLower(pair[0])), root(strings.ToLower(pair[1])); same(a, b) && pair[0] != "new" {
			t.Errorf("%s and %s are both %s", pair[0], pair[1], a)
		}
	}
}

// What is not English is held to its numbers and names, not to its words.
func TestOtherLanguages(t *testing.T) {
	e := vendors(t)
	for text, wrong := range map[string]bool{
		"Acme verkauft Laptops in Berlin zu einem Preis von 1000 Dollar und liefert sie binnen weniger Tage nach Hause.": false,
		"Acme verkauft Laptops in Berlin zu einem Preis von 1700 Dollar und liefert sie binnen weniger Tage nach Hause.": true,
		"アクメの価格は1000ドルです。": false,
	} {
		if f := e.judge(claimsOf(text)); (len(f.wrong) > 0) != wrong {
			t.Errorf("%s: %q %q", text, f.wrong, f.whys)
		}
	}
}

// FuzzGrounding: whatever is claimed and found, the comparison ends well, names
// only claims of the answer, and does not object to a result told word for word.
func FuzzGrounding(f *testing.F) {
	for line := range strings.Lines(fair + foul) {
		f.Add(strings.TrimSpace(line), `{"a":1,"b":["x","y"],"c":{"d":null}}`)
		f.Add("Acme costs 10.", strings.TrimSpace(line))
	}
	f.Add("not not 0%", "\x00\xff{\"a\":1e999}")
	f.Fuzz(func(t *testing.T, answer, result string) {
		if len(answer) > 2000 || len(result) > 2000 {
			return
		}
		s := begin(t, "go")
		s.act(did{tool: "look", args: `{}`, result: result})
		claims := claimsOf(answer)
		found := evidenceOf(s.state).judge(claims)
		if len(found.wrong) != len(found.whys) {
			t.Fatalf("%d claims, %d reasons", len(found.wrong), len(found.whys))
		}
		for _, w := range found.wrong {
			if !strings.Contains(strings.Join(texts(claims), "\n"), w) {
				t.Errorf("%q is no claim", w)
			}
		}
		for _, c := range claimsOf(result) {
			// One sentence alone: several may contradict each other.
			alone := begin(t, "go")
			alone.act(did{tool: "look", args: `{}`, result: c.text})
			if wrong := evidenceOf(alone.state).judge([]claim{c}); len(wrong.wrong) > 0 && len(c.clauses) == 1 && !strings.ContainsAny(c.text, "{}[]") {
				t.Errorf("%q does not bear itself out: %q", c.text, wrong.whys)
			}
		}
	})
}

func texts(claims []claim) (all []string) {
	for _, c := range claims {
		all = append(all, c.text)
	}
	return all
}

// A long run's evidence and a long answer are compared in no time to speak of.
func BenchmarkGrounding(b *testing.B) {
	var t testing.T
	s := begin(&t, "go")
	for range 50 {
		s.act(did{tool: "search", args: `{"q":"laptops"}`, result: `{"rows":[` + strings.Repeat(`{"name":"Acme","city":"Berlin","price_usd":1000,"refunds":false},`, 100) + `{"name":"Globex"}]}`})
	}
	answer := strings.Repeat("Acme in Berlin costs $1,000. Globex does not offer refunds. There are 101 rows. ", 40)
	for b.Loop() {
		if len(evidenceOf(s.state).judge(claimsOf(answer)).wrong) > 200 {
			b.Fatal("too many")
		}
	}
}
