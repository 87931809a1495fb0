package goedit

import (
	"regexp"
	"strconv"
	"strings"
)

// class is a family of rules.
type class int

const (
	comparison class = iota + 1
	arithmetic
	boolean
	bounds
	negation
	step
	truth
	variable
	member
	function
	args
	guard
	dependent
	term
	jump
	missing
	order
	shadow
	literal
	alias
	wrong
	lastClass = wrong
)

// trait is something that a failure's text shows about the kind of fault.
type trait struct {
	shows func(f Failure) bool
	times map[class]float64
}

var (
	outOfRange = regexp.MustCompile(`(index|slice bounds) out of range`)
	endless    = regexp.MustCompile(`test timed out|stack overflow|stack exceeds|deadlock|out of memory`)
	nilOrZero  = regexp.MustCompile(`nil pointer dereference|divide by zero|nil map`)
)

// traits depend on forms only: how the two values relate, and the runtime's message. No
// value is searched for in the source.
var traits = []trait{
	{func(f Failure) bool { return outOfRange.MatchString(f.Message) }, map[class]float64{bounds: 1.5, comparison: 1.5, step: 1.2, guard: 1.5, missing: 0.6}},
	{func(f Failure) bool { return endless.MatchString(f.Message) }, map[class]float64{comparison: 1.4, step: 1.5, negation: 1.2, bounds: 1.2}},
	{func(f Failure) bool { return nilOrZero.MatchString(f.Message) }, map[class]float64{comparison: 1.5, negation: 1.4, boolean: 1.3, guard: 2, missing: 0.5}},
	{isBool, map[class]float64{comparison: 1.3, boolean: 1.4, negation: 1.3, truth: 1.4, arithmetic: 0.8}},
	{offByOne, map[class]float64{bounds: 1.3, comparison: 1.3, step: 1.2}},
	{isNumber, map[class]float64{arithmetic: 1.2, step: 1.2, truth: 0.6}},
	{isCut, map[class]float64{bounds: 1.3, comparison: 1.1}},
}

// leaning returns a factor for each class, the mean over all failures.
func leaning(h Hints) map[class]float64 {
	out := map[class]float64{}
	for c := comparison; c <= lastClass; c++ {
		sum := 0.0
		for _, f := range h.Failures {
			w := 1.0
			for _, t := range traits {
				if t.times[c] != 0 && t.shows(f) {
					w *= t.times[c]
				}
			}
			sum += w
		}
		out[c] = 1
		if len(h.Failures) > 0 {
			out[c] = sum / float64(len(h.Failures))
		}
	}
	return out
}

func isBool(f Failure) bool {
	return f.Got == "true" && f.Want == "false" || f.Got == "false" && f.Want == "true"
}

func numbers(f Failure) (got, want float64, ok bool) {
	got, err1 := strconv.ParseFloat(f.Got, 64)
	want, err2 := strconv.ParseFloat(f.Want, 64)
	return got, want, err1 == nil && err2 == nil
}

func isNumber(f Failure) bool {
	_, _, ok := numbers(f)
	return ok
}

func offByOne(f Failure) bool {
	got, want, ok := numbers(f)
	return ok && (got-want == 1 || want-got == 1)
}

// isCut reports that one value is a part of the other, as when an end is lost.
func isCut(f Failure) bool {
	got, want := strings.Trim(f.Got, "\"[]{}"), strings.Trim(f.Want, "\"[]{}")
	return !isNumber(f) && got != want && got != "" && want != "" && (strings.Contains(got, want) || strings.Contains(want, got))
}

// usual corrects the weights of the rules by how often an edit of a class was
// the right one among faults that chance had sown into the right texts of the
// modules of testdata/faults: set on a half of them, it held for the other.
func usual(c class) float64 {
	switch c {
	case truth, member:
		return 1.5
	case bounds, negation:
		return 1.2
	case guard, missing, alias:
		return 0.7
	}
	return 1
}
