package cli

import (
	"fmt"
	"slices"
)

// flip is a test whose verdict has changed, or a line about several.
type flip struct {
	mark byte // + passes, - fails, a space: neither
	text string
}

// mostFlips is how many tests of a kind are named at once.
const mostFlips = 12

func (v *fixView) compare(open []string) []flip {
	var passes, fails []flip
	for _, id := range v.open {
		if !slices.Contains(open, id) {
			passes = append(passes, flip{'+', "passes now: " + id})
		}
	}
	for _, id := range open {
		switch {
		case v.first == nil:
			fails = append(fails, flip{'-', "fails: " + id})
		case slices.Contains(v.open, id):
		case v.first[id]:
			fails = append(fails, flip{'-', "fails again: " + id})
		default:
			fails = append(fails, flip{'-', "newly fails: " + id})
		}
	}
	if v.first == nil {
		v.first = map[string]bool{}
		for _, id := range open {
			v.first[id] = true
		}
	}
	return append(most(passes, "pass now"), most(fails, "fail")...)
}

func most(flips []flip, verb string) []flip {
	if len(flips) <= mostFlips {
		return flips
	}
	more := flip{' ', fmt.Sprintf("and %d more %s", len(flips)-mostFlips+1, verb)}
	return append(flips[:mostFlips-1:mostFlips-1], more)
}

const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	dim    = "\x1b[2m"
	normal = "\x1b[0m"
)

func (v *fixView) flip(f flip, turn int) {
	text := oneLine(f.text)
	switch {
	case v.live == nil:
		v.a.sayf("[%d] %s", turn, text)
		return
	case f.mark == '+':
		text = v.painted(green, "✓ "+text)
	case f.mark == '-':
		text = v.painted(red, "✗ "+text)
	default:
		text = "  " + text
	}
	v.a.err.paint(text + "\n")
}

func (v *fixView) painted(colour, text string) string {
	if !v.colour {
		return text
	}
	return colour + text + normal
}
