package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// The status is a few lines below all other output, redrawn in place. Other output goes
// above it in the same write, so that the screen does not flicker.

// The sequences of ECMA-48 that the status uses.
const (
	clearRest  = "\x1b[K" // EL: from the cursor to the end of the line
	clearBelow = "\x1b[J" // ED: from the cursor to the end of the screen
	cursorUp   = "\x1b[%dA"
)

// setStatus shows the status, lines that may hold colours; empty: removes it.
func (l *lockedWriter) setStatus(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lines == l.status {
		return
	}
	text := l.home() + strings.ReplaceAll(lines, "\n", clearRest+"\n") + clearRest
	if l.rows(l.status) > l.rows(lines) {
		text += clearBelow
	}
	l.status = lines
	l.put([]byte(text))
}

// home moves the cursor to the beginning of the status.
func (l *lockedWriter) home() string {
	if n := l.rows(l.status); n > 1 {
		return "\r" + fmt.Sprintf(cursorUp, n-1)
	}
	return "\r"
}

// rows is how many screen rows the status takes at the present width: lines that were
// written on a wider screen are wrapped.
func (l *lockedWriter) rows(status string) int {
	cols := 0
	if f, ok := l.w.(*os.File); ok {
		cols = columns(f)
	}
	n := 0
	for line := range strings.SplitSeq(status, "\n") {
		n++
		if w := width(colours.ReplaceAllString(line, "")); cols > 0 && w > cols {
			n += (w - 1) / cols
		}
	}
	return n
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// above returns b with the sequences that put it above the status.
func (l *lockedWriter) above(b []byte) []byte {
	if l.status == "" || len(b) == 0 {
		return b
	}
	text := l.home() + strings.ReplaceAll(string(b), "\n", clearRest+"\n")
	if !strings.HasSuffix(text, "\n") {
		text += clearRest + "\n"
	}
	return []byte(text + strings.ReplaceAll(l.status, "\n", clearRest+"\n") + clearRest)
}

// fit cuts a line to a width in columns.
func fit(line string, most int) string {
	if most <= 0 || width(line) <= most {
		return line
	}
	col := 0
	for i, r := range line {
		if col += runeWidth(r); col > most-1 {
			return line[:i] + "…"
		}
	}
	return line
}

// width is how many columns a line takes.
func width(line string) (n int) {
	for _, r := range line {
		n += runeWidth(r)
	}
	return n
}

// wide are the characters that take two columns: those of East Asian width W and F
// (Unicode Standard Annex 11), and pictures, by blocks.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26a1, 0x26a1}, {0x2705, 0x2705}, {0x274c, 0x274c},
	{0x2753, 0x2757}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18dff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f},
	{0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

// runeWidth is how many columns a character takes.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1160 && r <= 0x11ff:
		return 0
	}
	for _, w := range wide {
		if r < w[0] {
			break
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}
