package spec

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// source is the text of a spec in characters and lines.
type source struct {
	file  string
	runes []rune
	lines []int // the index of each line
}

func newSource(file, text string) *source {
	s := &source{file: file, runes: []rune(text), lines: []int{0}}
	for i, r := range s.runes {
		if r == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// index returns the index of a place in the text; -1 if the place does not
// exist.
func (s *source) index(p place) int {
	if p.line < 1 || p.line > len(s.lines) || p.column < 1 {
		return -1
	}
	i := s.lines[p.line-1] + p.column - 1
	if i > len(s.runes) {
		return -1
	}
	return i
}

func (s *source) place(index int) place {
	line, found := slices.BinarySearch(s.lines, index)
	if !found {
		line--
	}
	return place{line + 1, index - s.lines[line] + 1}
}

// offset returns the place of a byte of the text.
func (s *source) offset(text string, byteOffset int) place {
	return s.place(utf8.RuneCountInString(text[:min(byteOffset, len(text))]))
}

// within returns the place of a character of a text node, counted from 1. Between the characters
// of a text, the file may have a quote, the escape of one, or the end of a line with indentation.
// It returns false if the file has others, such as rare escapes.
func (s *source) within(n *node, column int) (place, bool) {
	text, i := []rune(n.text), s.index(n.place)
	if column-1 > len(text) || i < 0 || i == len(s.runes) {
		return n.place, false
	}
	switch s.runes[i] {
	case '"', '\'':
		i++
	case '|', '>': // the text is below
		i += slices.Index(s.runes[i:], '\n') + 1
	}
	numbered := func() bool { return i+5 < len(s.runes) && s.runes[i] == '\\' && s.runes[i+1] == 'u' }
	for k := 0; ; k, i = k+1, i+1 {
		for i < len(s.runes) && k < len(text) && s.runes[i] != text[k] && strings.ContainsRune("'\\ \n", s.runes[i]) && !numbered() {
			i++
		}
		switch {
		case k == column-1:
			return s.place(i), true
		case numbered():
			i += 5
		case i == len(s.runes) || s.runes[i] != text[k]:
			return n.place, false
		}
	}
}
