package naming

import (
	"regexp"
	"strings"
	"testing"
)

// naive is Match by way of a regular expression.
func naive(pattern, name string) bool {
	re := regexp.QuoteMeta(pattern)
	re = strings.ReplaceAll(re, `\*`, `.*`)
	re = strings.ReplaceAll(re, `\?`, `.`)
	return regexp.MustCompile(`(?s)\A` + re + `\z`).MatchString(name)
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "delete_file", true},
		{"?", "", false},
		{"?", "é", true},
		{"??", "é", false},
		{"delete_*", "delete_file", true},
		{"delete_*", "delete_", true},
		{"delete_*", "undelete_file", false},
		{"*_file", "delete_file", true},
		{"*_file", "delete_files", false},
		{"d*_*e", "delete_file", true},
		{"d**e", "delete_file", true},
		{"*ab", "aab", true},
		{"*aab*b", "aaaabab", true},
		{"delete_file", "delete_file", true},
		{"delete_file", "Delete_file", false},
		{"openai/*", "openai/meta/llama", true},
		{"[a-z]", "a", false},
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
		if got := naive(c.pattern, c.name); got != c.want {
			t.Errorf("the naive twin has %v for %q and %q", got, c.pattern, c.name)
		}
	}
}

// TestMatchAll holds Match to its twin on every short pattern and name of two letters.
func TestMatchAll(t *testing.T) {
	patterns, names := words("ab*?", 5), words("ab", 6)
	for _, p := range patterns {
		re := regexp.MustCompile(`\A` + strings.NewReplacer("*", ".*", "?", ".").Replace(p) + `\z`)
		for _, n := range names {
			if got, want := Match(p, n), re.MatchString(n); got != want {
				t.Fatalf("Match(%q, %q) = %v, want %v", p, n, got, want)
			}
		}
	}
}

// words are all words of at most so many of the letters.
func words(letters string, most int) []string {
	all := []string{""}
	for from := 0; most > 0; most-- {
		end := len(all)
		for _, w := range all[from:end] {
			for _, l := range letters {
				all = append(all, w+string(l))
			}
		}
		from = end
	}
	return all
}

func FuzzMatch(f *testing.F) {
	f.Add("d*_?ile", "delete_file")
	f.Add("*é?", "caféé")
	f.Add("*a*a*a*a*b", strings.Repeat("a", 50))
	f.Fuzz(func(t *testing.T, pattern, name string) {
		pattern, name = strings.ToValidUTF8(pattern, "x"), strings.ToValidUTF8(name, "x")
		if got, want := Match(pattern, name), naive(pattern, name); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	})
}

// What is alike is made of what there is.
func TestAlike(t *testing.T) {
	for pattern, want := range map[string]string{
		"delte_*": "delete_file delet* delete* delete_*",
		"*":       "delete_file d*",
		"delet":   "delete_file",
	} {
		if got := strings.Join(Alike(pattern, []string{"delete_file"}), " "); got != want {
			t.Errorf("Alike(%q) = %s, want %s", pattern, got, want)
		}
	}
}
