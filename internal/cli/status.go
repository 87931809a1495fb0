package cli

import (
	"strings"
	"unicode/utf8"
)

// A status line stands below everything else that is written and is written
// over in place. Whatever is written meanwhile goes above it, in the same write,
// so that nothing is seen to come and go.

const clearRest = "\x1b[K" // ECMA-48, EL: from the cursor to the end of the line

// setStatus shows a status line, which may hold colours; empty: none any more.
func (l *lockedWriter) setStatus(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line == l.status {
		return
	}
	l.status = line
	l.put([]byte("\r" + line + clearRest))
}

// above is what is to be written when a status line stands in the way.
func (l *lockedWriter) above(b []byte) []byte {
	if l.status == "" || len(b) == 0 {
		return b
	}
	text := "\r" + strings.ReplaceAll(string(b), "\n", clearRest+"\n")
	if !strings.HasSuffix(text, "\n") {
		text += clearRest + "\n"
	}
	return []byte(text + l.status + clearRest)
}

// fit cuts a line to a width in characters.
func fit(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width-1)]) + "…"
}
