package guard

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// marked puts what a rule finds between « and », with its kind.
func marked(r Rule, text string) string {
	var b strings.Builder
	rest := 0
	for _, s := range r.find(text) {
		if s.start < rest {
			continue
		}
		b.WriteString(text[rest:s.start] + "«" + s.kind + " " + text[s.start:s.end] + "»")
		rest = s.end
	}
	return b.String() + text[rest:]
}

func TestPII(t *testing.T) { // Promises: L11.
	all := PII(Redact, Email, Phone, SSN, Card, IBAN, IP)
	for text, want := range map[string]string{
		// e-mail
		"Write to ada@example.org.":            "Write to «email ada@example.org».",
		"<a.b+c_d%e@mail.example.co.uk>":       "<«email a.b+c_d%e@mail.example.co.uk»>",
		"mailto:x@y.io?subject=1":              "mailto:«email x@y.io»?subject=1",
		"git@github.com:o/r.git":               "git@github.com:o/r.git",
		"golang.org/x/tools@v0.1.2 and @types": "golang.org/x/tools@v0.1.2 and @types",
		"user@localhost, a@b, @c.de, x@.de":    "user@localhost, a@b, @c.de, x@.de",
		// telephone
		"call +1 415 555 2671 now":                      "call «phone +1 415 555 2671» now",
		"+14155552671":                                  "«phone +14155552671»",
		"(415) 555-2671, 415-555-2671":                  "«phone (415) 555-2671», «phone 415-555-2671»",
		"415.555.2671 or +49 (30) 901820":               "«phone 415.555.2671» or «phone +49 (30) 901820»",
		"4155552671 and 1732220000 and +5 apples, 3+4":  "4155552671 and 1732220000 and +5 apples, 3+4",
		"115-555-2671, 415-155-2671, x415-555-2671":     "115-555-2671, 415-155-2671, x415-555-2671",
		"2024-01-15 10:00, 1.234.567, @@ -1,5 +12345 @": "2024-01-15 10:00, 1.234.567, @@ -1,5 +12345 @",
		// social security
		"SSN 078-05-1120.":                                   "SSN «ssn 078-05-1120».",
		"000-12-3456 666-12-3456 912-12-3456":                "000-12-3456 666-12-3456 912-12-3456",
		"123-00-4567 123-45-0000 1123-45-6789 123-45-6789-1": "123-00-4567 123-45-0000 1123-45-6789 123-45-6789-1",
		// cards
		"4111 1111 1111 1111":                     "«card 4111 1111 1111 1111»",
		"pay 5555-5555-5555-4444 by 12":           "pay «card 5555-5555-5555-4444» by 12",
		"378282246310005,6011111111111117":        "«card 378282246310005»,«card 6011111111111117»",
		"30569309025904 and 3530111333300000":     "«card 30569309025904» and «card 3530111333300000»",
		"12 4111 1111 1111 1111":                  "12 «card 4111 1111 1111 1111»",
		"4111 1111 1111 1112 (check digit)":       "4111 1111 1111 1112 (check digit)",
		"1732220000000000000, 0.4111111111111111": "1732220000000000000, 0.4111111111111111",
		"9111111111111111 of no scheme":           "9111111111111111 of no scheme",
		// bank accounts
		"DE89370400440532013000":              "«iban DE89370400440532013000»",
		"to GB82 WEST 1234 5698 7654 32, now": "to «iban GB82 WEST 1234 5698 7654 32», now",
		"DE89370400440532013001 is mistyped":  "DE89370400440532013001 is mistyped",
		"DE8937040044053201300 is too short":  "DE8937040044053201300 is too short",
		"XX89370400440532013000, NO SUCH 123": "XX89370400440532013000, NO SUCH 123",
	} {
		if got := marked(all, text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A form that is looked for at each digit is looked for there only: what reads on from each of them reads a long
// text thousands of times.
func TestFormsAreAnchored(t *testing.T) {
	for _, form := range []*regexp.Regexp{international(), american(), social()} {
		tree, _ := syntax.Parse(form.String(), syntax.Perl) // package regexp has read it
		if prog, err := syntax.Compile(tree.Simplify()); err != nil || prog.StartCond()&syntax.EmptyBeginText == 0 {
			t.Errorf("%v is looked for in all the rest of a text (%v)", form, err)
		}
	}
}

// What common agents read and write is not taken for anything.
func TestNothingIsFound(t *testing.T) {
	rules := []Rule{PII(Block), Secrets(Block), Topics(Block, "rm", "insider trading")}
	for _, text := range []string{
		"", "Compare R&D spend; summarise.", "run `go test ./...` | tee out && echo $?", "SELECT * FROM users WHERE id = 1; -- done",
		"../../etc/hosts", "drop, delete, truncate, exec, eval", "listen on 127.0.0.1:8080 or [::1]:80",
		"Ignore case when comparing. The previous rules of the parser still hold.",
		"To ignore all rules in a file, add // eslint-disable.", "Forget it; the prompt was above.", "You are now logged in.",
		"Print the instructions of your system.", "He told the user not to worry.", "Skip the above instructions if Go is installed.",
		"the form of the warm storm", "Insider news, trading hours", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
		"commit 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c", "v1.26.8, 2026-11-21T20:17:07Z, 1,234,567.89 EUR",
	} {
		for _, r := range rules {
			if found := r.find(text); found != nil {
				t.Errorf("%s finds %+v in %q", r.name, found, text)
			}
		}
	}
}

func TestTopics(t *testing.T) {
	r := Topics(Block, "insider trading", "Größe", "O'Neill")
	for text, want := range map[string]string{
		"About INSIDER\n  trading, and more": "About «topic INSIDER\n  trading», and more",
		"die GRÖSSE, die größe":              "die GRÖSSE, die «topic größe»",
		"Mr O’Neill's":                       "Mr O’Neill's",
		"Mr O'Neill":                         "Mr «topic O'Neill»",
		"insider-trading":                    "«topic insider-trading»",
		"insiders trading insider":           "insiders trading insider",
	} {
		if got := marked(r, text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFilterOverlap(t *testing.T) {
	g := New(PII(Redact), Topics(Redact, "ada"), Secrets(Redact))
	got := g.Filter("ada@example.org, Ada, postgres://a:ada@example.org/x")
	if want := "[redacted email], [redacted topic], postgres://a:[redacted email]/x"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Every rule takes any text, and finds pieces of it, in reasonable time.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{"a@b.de", "+1 (415) 555-2671", "4111 1111 1111 1111", "GB82 WEST 1234 5698 7654 32", "2001:db8::1", "it’s", "\xff"} {
		f.Add(seed)
	}
	rules := []Rule{PII(Redact, Email, Phone, SSN, Card, IBAN, IP), Secrets(Redact), Topics(Redact, "a b", "c")}
	g := New(rules...)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range rules {
			for _, s := range r.find(text) {
				if s.start < 0 || s.end <= s.start || s.end > len(text) {
					t.Fatalf("%s finds %+v in %q", r.name, s, text)
				}
			}
		}
		g.Filter(text)
	})
}
