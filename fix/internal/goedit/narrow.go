package goedit

import (
	"strings"

	"github.com/pawl-run/pawl/internal/ends"
)

// narrow describes the step from before to after as a replacement of a text
// that occurs once in before: the lines that differ without their common
// indentation if that is unique, else with lines around them until it is.
func narrow(before, after string, line int) (from, to string) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	top, low := ends.Common(a, b)
	// A line that only came or went is shown with the one that was meant.
	if top == len(a)-low || top == len(b)-low {
		top = min(top, line-1)
	}
	if top == len(b)-low && top > 0 {
		top-- // lines that went without a trace leave no empty one
	}
	text := func() (string, string) {
		return strings.Join(a[top:len(a)-low], "\n"), strings.Join(b[top:len(b)-low], "\n")
	}
	from, to = text()
	indent := from[:len(from)-len(strings.TrimLeft(from, " \t"))]
	if short, ok := strings.CutPrefix(to, indent); ok && from != indent {
		if f := from[len(indent):]; occurrences(before, f) == 1 {
			return f, short
		}
	}
	for up := true; occurrences(before, from) != 1; up = !up {
		switch {
		case top > 0 && (up || low == 0):
			top--
		case low > 0:
			low--
		default:
			return before, after
		}
		from, to = text()
	}
	return from, to
}

// occurrences counts also those that overlap, and stops at two.
func occurrences(s, part string) int {
	if part == "" {
		return len(s) + 1
	}
	i := strings.Index(s, part)
	if i < 0 {
		return 0
	}
	if strings.Contains(s[i+1:], part) {
		return 2
	}
	return 1
}
