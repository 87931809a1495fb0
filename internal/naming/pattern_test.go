package naming_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

func TestPatternsAreBounded(t *testing.T) {
	for _, expr := range []string{`(?i)(?:a|aa|aaa|b?){1,900}c`, `(?:abcdefgh){1,900}`, `\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}`} {
		if _, err := naming.CompilePattern(expr); err == nil || !strings.Contains(err.Error(), "repeat less") {
			t.Errorf("%s: %v", expr, err)
		}
	}
	if _, err := naming.CompilePattern(`(`); err == nil {
		t.Error("an open parenthesis is taken")
	}
	p, err := naming.CompilePattern(`(?i)(?:a|aa|aaa|b?){1,400}c`)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{p.Reach(), p.Reach() + 1, 4 << 20} {
		began := time.Now()
		matched := p.MatchString(strings.Repeat("a", n-1) + "c")
		if within := n <= p.Reach(); matched != within || (p.FindString(strings.Repeat("a", n-1)+"c") != "") != within {
			t.Errorf("of %d bytes, with %d in reach: matched is %v", n, p.Reach(), matched)
		}
		if took := time.Since(began); took > 30*time.Second { // on a machine with others beside it
			t.Errorf("it took %v", took)
		}
	}
}

// FuzzPattern: what is compiled matches like package regexp.
func FuzzPattern(f *testing.F) {
	f.Add(`^[a-z]+$`, "word")
	f.Add(`(?i)\bERROR\b`, "an error here")
	f.Fuzz(func(t *testing.T, expr, text string) {
		p, err := naming.CompilePattern(expr)
		if err != nil {
			return
		}
		re := regexp.MustCompile(expr)
		if len(text) <= p.Reach() && (p.MatchString(text) != re.MatchString(text) || p.FindString(text) != re.FindString(text) || p.String() != expr) {
			t.Errorf("%q on %q differs", expr, text)
		}
	})
}
