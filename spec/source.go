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

// within returns the place of a character of a text node, counted from 1. It
// returns false if the line of it stands in the file in other characters,
// because of escapes or folding.
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
	if end := i + len(before); i < 0 || end > len(s.runes) || !slices.Equal(s.runes[i:end], before) {
		return n.place, false
	}
	return place{at.line, at.column + len(before)}, true
}
