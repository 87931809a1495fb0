package display

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// DefaultLimit is the default number of bytes kept.
const DefaultLimit = 16 << 10

// Cut returns an excerpt of at most limit bytes of s (zero or less is
// [DefaultLimit]) and reports whether anything was dropped. It equals the text
// of a [Buffer] with that limit.
func Cut(s string, limit int) (string, bool) {
	head, tail := halves(limit)
	if len(s) <= head+tail {
		return valid(s), false
	}
	sum := sha256.Sum256([]byte(s))
	return render(s[:head], s[len(s)-tail:], int64(len(s)), sum[:]), true
}

// Short returns the first 300 bytes of a text, for a message.
func Short(s string) string { return Clip(s, 300) }

// Clip returns the first bytes of a text, and … if there are more than most.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// halves splits a limit between beginning and end.
func halves(limit int) (head, tail int) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return limit / 2, limit - limit/2
}

// render joins the head and tail of a longer stream.
func render(head, tail string, total int64, sum []byte) string {
	head, tail = endAtBoundary(head), beginAtBoundary(tail)
	left := total - int64(len(head)) - int64(len(tail))
	var b strings.Builder
	b.WriteString(valid(head))
	if head != "" && !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "… [%s left out; sha256 %s] …\n", Count(int(left), "byte"), hex.EncodeToString(sum))
	b.WriteString(valid(tail))
	return b.String()
}

// valid replaces each run of invalid UTF-8 by one U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// endAtBoundary shortens a head so that it ends after a line, if that costs at
// most a quarter of it, else so that it does not end within a character.
func endAtBoundary(s string) string {
	if i := strings.LastIndexByte(s, '\n') + 1; i > 0 && i >= len(s)-len(s)/4 {
		return s[:i]
	}
	for i := len(s) - 1; i >= 0 && i > len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// beginAtBoundary shortens a tail in the same way at its beginning.
func beginAtBoundary(s string) string {
	if i := strings.IndexByte(s, '\n') + 1; i > 0 && i <= len(s)/4 {
		return s[i:]
	}
	for i := range utf8.UTFMax {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s // not UTF-8 in any case
}

// After returns the text with what leads to it; empty: there is no text.
func After(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// WithoutPath returns the cause of an error about a file, whose name the text around it says.
func WithoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
