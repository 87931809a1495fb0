package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
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
// reads value and source in parallel, because quotes, escapes, folding and
// indentation make them differ, and returns false if they do not match.
func (s *source) within(n *node, column int) (place, bool) {
	i := s.index(n.place)
	if i < 0 {
		return n.place, false
	}
	switch n.style {
	case single, double:
		i++
	case block: // the text below the line with | or >
		if n.place.line >= len(s.lines) {
			return n.place, false
		}
		i = s.lines[n.place.line]
	case plain:
	}
	value := []rune(n.text)
	for k := 0; k < min(column-1, len(value)); {
		if unicode.IsSpace(value[k]) && !s.escaped(n, i) {
			for k < len(value) && unicode.IsSpace(value[k]) {
				k++
			}
			i = s.blanks(i)
			continue
		}
		if n.style != double && n.style != single {
			i = s.blanks(i)
		}
		width := s.width(n, i, value[k])
		if width == 0 {
			return n.place, false
		}
		i += width
		k++
	}
	if column <= len(value) && !unicode.IsSpace(value[column-1]) {
		i = s.blanks(i)
	}
	return s.place(i), true
}

func (s *source) escaped(n *node, i int) bool {
	return n.style == double && i < len(s.runes) && s.runes[i] == '\\'
}

// blanks skips white space.
func (s *source) blanks(i int) int {
	for i < len(s.runes) && unicode.IsSpace(s.runes[i]) {
		i++
	}
	return i
}

// width returns how many characters at i represent r; zero: they do not.
func (s *source) width(n *node, i int, r rune) int {
	if i >= len(s.runes) {
		return 0
	}
	next := rune(-1)
	if i+1 < len(s.runes) {
		next = s.runes[i+1]
	}
	switch {
	case n.style == single && r == '\'':
		if s.runes[i] == '\'' && next == '\'' {
			return 2
		}
		return 0
	case s.escaped(n, i):
		return escape(s.runes[i:], next, r)
	case s.runes[i] == r:
		return 1
	}
	return 0
}

// escape returns the length of the escape at the start of src if it represents
// r. It knows those of YAML's escapes that JSON has too.
func escape(src []rune, next, r rune) int {
	switch next {
	case '"', '\\', '/':
		if next == r {
			return 2
		}
	case 'u':
		units := utf16.Encode([]rune{r})
		var want strings.Builder
		for _, u := range units {
			fmt.Fprintf(&want, `\u%04x`, u)
		}
		if n := want.Len(); n <= len(src) && strings.EqualFold(string(src[:n]), want.String()) {
			return n
		}
	}
	return 0
}
