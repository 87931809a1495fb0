package mechanic

import (
	"strings"

	"github.com/pawl-run/pawl/internal/ends"
)

// hunk returns the smallest change of whole lines that makes one text of
// another, with as much around it as it takes for the old part to occur once.
// It reports false for equal texts.
func hunk(from, to string) (old, with string, ok bool) {
	if from == to {
		return "", "", false
	}
	a, b := strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n")
	top, low := ends.Common(a, b)
	for up := true; ; up = !up {
		old = strings.Join(a[top:len(a)-low], "")
		with = strings.Join(b[top:len(b)-low], "")
		switch {
		case once(from, old), top == 0 && low == 0:
			return old, with, true
		case top > 0 && (up || low == 0):
			top--
		default:
			low--
		}
	}
}

// once reports whether a text occurs exactly once, overlaps counted.
func once(s, part string) bool {
	i := strings.Index(s, part)
	return part != "" && i >= 0 && !strings.Contains(s[i+1:], part)
}

// lineOf returns the number of the line where a text begins.
func lineOf(s, part string) int {
	return 1 + strings.Count(s[:max(0, strings.Index(s, part))], "\n")
}

// replace makes the edit that the tool makes.
func replace(s, old, with string) (string, bool) {
	if !once(s, old) {
		return s, false
	}
	return strings.Replace(s, old, with, 1), true
}

type pair struct{ old, with string }

// widen takes one more line before an edit, or else after it, into the edit.
func widen(text, old, with string) (pair, bool) {
	at := strings.Index(text, old)
	if at < 0 {
		return pair{}, false
	}
	if at > 0 {
		more := text[strings.LastIndexByte(text[:at-1], '\n')+1 : at]
		return pair{more + old, more + with}, true
	}
	rest := text[at+len(old):]
	if rest == "" {
		return pair{}, false
	}
	more := rest
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		more = rest[:i+1]
	}
	return pair{old + more, with + more}, true
}
