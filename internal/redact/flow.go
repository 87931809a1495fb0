package redact

import "strings"

// A Flow takes out of a text that comes in pieces what [Text] would take out of
// the whole. It passes words on as they are finished, and holds back a line in
// which something looks like a secret until it is over. What it passes on of a
// text in which nothing looks so is that text; else it may differ from what Text
// makes of the whole, in that more is missing. The zero value is ready; it must be
// used from one goroutine at a time.
type Flow struct {
	line   string // what has not been passed on for good: lines, the last one unfinished
	passed string // the beginning of line that has been passed on
}

// mostHeld bounds what is looked at again with every piece. No secret is known
// to be as long.
const mostHeld = 16 << 10

// Add takes a piece in and returns what can be passed on.
func (f *Flow) Add(piece string) string {
	f.line += piece
	var out string
	if n := strings.LastIndexByte(f.line, '\n') + 1; n > 0 && n > len(f.passed) {
		if clean := Text(f.line[:n]); !strings.HasSuffix(strings.TrimRight(clean, "\r\n"), Marker) {
			out = f.release(n)
		}
	}
	if len(f.line) > mostHeld {
		return out + f.release(strings.LastIndexAny(f.line, " \t\r\n")+1)
	}
	n := strings.LastIndexAny(f.line, " \t\r\n") + 1
	if n <= len(f.passed) || Text(f.line) != f.line {
		return out
	}
	out += f.line[len(f.passed):n]
	f.passed = f.line[:n]
	return out
}

// Close ends the text and returns what was held back.
func (f *Flow) Close() string { return f.release(len(f.line)) }

// release passes on the first n bytes of the line for good; none: all of it goes.
func (f *Flow) release(n int) (out string) {
	if n == 0 { // a word without an end
		n = len(f.line)
	}
	clean, found := strings.CutPrefix(Text(f.line[:n]), f.passed)
	if !found { // what looked harmless was the beginning of a secret
		clean = Marker
	}
	f.line, f.passed = f.line[n:], ""
	return clean
}
