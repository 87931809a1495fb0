package guard

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text, in lower case.
type word struct {
	lower      string
	start, end int
}

// words yields the words of a text: letters and digits of any script, with
// apostrophes between them.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		start := -1
		for i := 0; i <= len(text); {
			r, size := utf8.RuneError, 1
			if i < len(text) {
				if r = rune(text[i]); r >= utf8.RuneSelf {
					r, size = utf8.DecodeRuneInString(text[i:])
				}
			}
			inside := i < len(text) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
				start >= 0 && (r == '\'' || r == '’') && i+size < len(text))
			switch {
			case inside && start < 0:
				start = i
			case !inside && start >= 0:
				lower := strings.ReplaceAll(strings.ToLower(strings.TrimRight(text[start:i], "'’")), "’", "'")
				if !yield(word{lower, start, i}) {
					return
				}
				start = -1
			}
			i += size
		}
	}
}

const topic = "topic"

// mentions finds phrases word for word; of two that end alike, the first.
func mentions(text string, phrases [][]string) (found []span) {
	all := slices.Collect(words(text))
	for end := range all {
		for _, p := range phrases {
			if n := end + 1 - len(p); n >= 0 && same(all[n:], p) {
				found = append(found, span{topic, all[n].start, all[end].end})
				break
			}
		}
	}
	return found
}

func same(words []word, phrase []string) bool {
	for i, w := range phrase {
		if words[i].lower != w {
			return false
		}
	}
	return len(phrase) > 0
}
