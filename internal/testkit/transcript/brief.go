package transcript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A text of a transcript that repeats a piece is written ⟨PIECE×N⟩, in scripts and in results.
const (
	longestPiece = 12
	leastBrief   = 60 // bytes that are worth it
)

var repeated = regexp.MustCompile(`⟨([^⟩]*)×(\d+)⟩`)

// full writes out what a script repeats.
func full(text string) string {
	return repeated.ReplaceAllStringFunc(text, func(brief string) string {
		m := repeated.FindStringSubmatch(brief)
		n, _ := strconv.Atoi(m[2]) // digits
		return strings.Repeat(m[1], n)
	})
}

// brief shortens what a result repeats.
func brief(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		piece, n := repeats(text)
		if n*len(piece) < leastBrief {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		fmt.Fprintf(&b, "⟨%s×%d⟩", piece, n)
		text = text[n*len(piece):]
	}
	return b.String()
}

// repeats finds the shortest piece on one line that a text begins with more than once, and how often.
func repeats(text string) (piece string, n int) {
	for size := 1; size <= min(longestPiece, len(text)/2); size++ {
		piece = text[:size]
		for n = 1; strings.HasPrefix(text[n*size:], piece); n++ {
		}
		if n*size >= leastBrief && !strings.Contains(piece, "\n") {
			return piece, n
		}
	}
	return "", 0
}
