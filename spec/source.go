package spec

import (
	"slices"
	"strings"
	"unicode/utf16"
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

// within returns the place of a character of a text node, counted from 1. It
// returns false if the file has other characters before it, because of folding
// or rare escapes.
func (s *source) within(n *node, column int) (place, bool) {
	text := []rune(n.text)
	if column-1 > len(text) {
		return n.place, false
	}
	before, at := text[:column-1], n.place
	switch n.style {
	case single, double:
		at.column++
	case block: // on the lines below the | or >, after the indentation
		lines := strings.Split(string(before), "\n")
		before = []rune(lines[len(lines)-1])
		first := s.index(place{n.place.line + 1, 1})
		if first < 0 {
			return n.place, false
		}
		indent := slices.IndexFunc(s.runes[first:], func(r rune) bool { return r != ' ' })
		at = place{n.place.line + len(lines), 1 + max(0, indent)}
	case plain:
	}
	i := s.index(at)
	if i < 0 {
		return n.place, false
	}
	for _, r := range before {
		width := 0
		if i < len(s.runes) {
			width = n.width(s.runes[i:], r)
		}
		if width == 0 {
			return n.place, false
		}
		i += width
	}
	return s.place(i), true
}

// width returns how many characters at the start of src write r; zero: they do not.
func (n *node) width(src []rune, r rune) int {
	switch {
	case n.style == double && src[0] == '\\' && len(src) > 1 && src[1] == 'u':
		return 6 * len(utf16.Encode([]rune{r}))
	case n.style == double && src[0] == '\\', n.style == single && r == '\'':
		return 2
	case src[0] == r:
		return 1
	}
	return 0
}
