package journals

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of a text: the index of a run stays small whatever the run was asked.
const (
	mostBytes = 64 << 10
	mostWord  = 64
)

// Words returns the distinct words of the first 64 kB of a text, sorted and in lower case.
// A word is a sequence of letters, marks and digits, cut at 64 bytes. In scripts without
// spaces between words, such as Chinese, each character is a word.
func Words(text string) []string {
	if len(text) > mostBytes {
		text = text[:mostBytes]
	}
	var out []string
	begin := -1
	end := func(i int) {
		if begin >= 0 {
			out = append(out, cut(strings.ToLower(text[begin:i])))
		}
		begin = -1
	}
	for i, r := range text {
		switch {
		case !WordPart(r):
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			out = append(out, string(r))
		case begin < 0:
			begin = i
		}
	}
	end(len(text))
	slices.Sort(out)
	return slices.Compact(out)
}

// WordPart reports whether a character is part of a word.
func WordPart(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
}

// cut shortens a word to whole characters.
func cut(word string) string {
	if len(word) <= mostWord {
		return word
	}
	n := mostWord
	for !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// WordsMatch reports whether each of the sought words is one of the words of a text, or begins
// one. Both are results of Words.
func WordsMatch(words, sought []string) bool {
	for _, w := range sought {
		i, _ := slices.BinarySearch(words, w)
		if i == len(words) || !strings.HasPrefix(words[i], w) {
			return false
		}
	}
	return true
}
