package goedit

import (
	"regexp"
	"strings"
)

// clues are what the failures' texts reveal of the kind of fault.
type clues struct {
	h                                                     Hints
	nilPointer, divided, outside, nilMap, negative, hangs bool
	text                                                  string // all messages
	swaps                                                 []textSwap
}

var (
	nilPointer = regexp.MustCompile(`nil pointer dereference`)
	divided    = regexp.MustCompile(`divide by zero|\bNaN\b|[+-]Inf\b`)
	nilMap     = regexp.MustCompile(`assignment to entry in nil map`)
	negative   = regexp.MustCompile(`panic: .*(negative|(len|cap|size) out of range)`)
	outOfRange = regexp.MustCompile(`(index|slice bounds) out of range`)
	hangs      = regexp.MustCompile(`all goroutines are asleep|test timed out|deadlock`)
)

// mostSwaps bounds the differences taken from all messages.
const mostSwaps = 16

func newClues(h Hints) *clues {
	c := &clues{h: h}
	var b strings.Builder
	for _, f := range h.Failures {
		b.WriteString(f.Output)
		b.WriteString("\n")
		b.WriteString(f.Test)
		b.WriteString("\n")
		got, want := f.Got, f.Want
		if got == "" || want == "" || strings.Contains(f.Output, want+"\n") {
			// Only the message has values of several lines.
			if g, w, ok := gotWant(f.Output); ok {
				got, want = g, w
			}
		}
		c.swaps = append(c.swaps, textSwaps(got, want)...)
		// A test that continues after an error reports several differences.
		for line := range strings.Lines(f.Output) {
			if g, w, ok := gotWant(line); ok && g != got && len(c.swaps) < mostSwaps {
				c.swaps = append(c.swaps, textSwaps(g, w)...)
			}
		}
	}
	c.text = b.String()
	c.nilPointer = nilPointer.MatchString(c.text)
	c.divided = divided.MatchString(c.text)
	c.outside = outOfRange.MatchString(c.text)
	c.nilMap = nilMap.MatchString(c.text)
	c.negative = negative.MatchString(c.text)
	c.hangs = hangs.MatchString(c.text)
	return c
}

// tests reports whether a name shares a word with the name of a failing test, as Escape with
// TestEscapedText.
func (c *clues) tests(name string) bool {
	for _, f := range c.h.Failures {
		for _, w := range words(f.Test) {
			for _, v := range words(name) {
				if n := min(len(v), len(w)); w == v || n > 4 && w[:n] == v[:n] {
					return true
				}
			}
		}
	}
	return false
}

// gotWant reads "got X, want Y" to the end of a message, without the indentation
// that package testing gives to the lines of the two.
func gotWant(message string) (got, want string, ok bool) {
	_, rest, ok1 := strings.Cut(message, "got ")
	got, want, ok2 := strings.Cut(rest, ", want ")
	outdent := strings.NewReplacer("\n    ", "\n")
	return outdent.Replace(got), strings.TrimRight(outdent.Replace(want), " \n"), ok1 && ok2
}

// times is factor if something is so, else one.
func times(so bool, factor float64) float64 {
	if so {
		return factor
	}
	return 1
}
