package guard

import (
	"strings"
	"testing"
)

// A value stands in a text for itself or not at all.
func TestStands(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"Write to bob@corp.example.", "bob@corp.example", true}, {"<bob@corp.example>", "bob@corp.example", true},
		{"mailto:bob@corp.example?x", "bob@corp.example", true}, {"Bob's file", "bob", true}, {"see @bob", "bob", true},
		{"notbob@corp.example", "bob@corp.example", false}, {"bob@corp.example.org", "bob@corp.example", false},
		{"a.bob@corp.example", "bob@corp.example", false}, {"bob@corp.example", "corp.example", false}, {"bob@corp.example", "bob", false},
		{"www.corp.example", "corp.example", false}, {"https://corp.example/a", "corp.example", true},
		{"out/report.txt", "report.txt", true}, {"report.txt.gz", "report.txt", false}, {"x/etc", "/etc", false}, {"at /etc", "/etc", true},
		{"issue #42", "42", true}, {"issues/42", "42", true}, {"T-42", "42", false}, {"10:42", "42", false}, {"1,042", "42", false}, {"42.5", "42", false},
		{"b\u200bob", "bob", false}, {"ALPHA  Beta", "alpha beta", true}, {"alpha, beta", "alpha beta", false}, {"K\u212A", "kk", false},
		{"", "x", false}, {"x", "", false}, {"* / .", "*", false},
	} {
		k := newCorpus()
		k.add(c.text, "here")
		if _, got := k.find(fold(c.value)); got != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	k := newCorpus()
	k.add("Pay 1,200.50 or $50.00, not 12,34 nor 7 at 10:30 on 2026-03-04 from 10.0.0.1, T-9, v3 and 007; -8 degrees", "here")
	for number, want := range map[string]bool{
		"1200.5": true, "1200.50": true, "50": true, "5e1": true, "7": true, "-8": true,
		"1234": false, "12": false, "34": false, "10": false, "30": false, "2026": false, "3": false, "9": false, "8": false, "200.5": false,
	} {
		canon, ok := canonical(number)
		if _, got := k.number(canon); !ok || got != want {
			t.Errorf("%s (%s, %v): %v", number, canon, ok, got)
		}
	}
}

// FuzzFind: what is found stands there, and a text is found in itself.
func FuzzFindValue(f *testing.F) {
	f.Add("Write to bob@corp.example, 1,200.50", "bob@corp.example")
	f.Add("a\u200bb ＠ K", "k")
	f.Fuzz(func(t *testing.T, text, value string) {
		k := newCorpus()
		k.add(text, "here")
		folded := fold(value)
		if _, ok := k.find(folded); ok && !strings.HasPrefix(folded, "+") && !strings.Contains(fold(text), folded) {
			t.Errorf("%q is found in %q", value, text)
		}
		spellings(folded)
		moment(folded)
	})
}
