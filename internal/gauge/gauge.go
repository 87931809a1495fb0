// Package gauge compares measures of a goal: which of two is the better one,
// and what came to be fixed and broken between them, by identity.
package gauge

import (
	"regexp"
	"strconv"
)

// A Measure is one reading: a value, and the names of what is still wrong.
type Measure struct {
	Value float64
	Open  []string
}

// A Scale knows which values a goal is after.
type Scale struct{ least, most []float64 }

// bound is a comparison of the metric as conditions print it.
var bound = regexp.MustCompile(`\bmetric (==|>=|<=|>|<) (-?[0-9][0-9.eE+-]*)`)

// ScaleOf reads off the source of a success condition whether higher or lower
// values are better, or those near a bound. Where it says nothing of the metric,
// as a condition that is a function of the program, higher ones are.
func ScaleOf(success string) (s Scale) {
	for _, m := range bound.FindAllStringSubmatch(success, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		if m[1][0] != '<' {
			s.least = append(s.least, v)
		}
		if m[1][0] != '>' {
			s.most = append(s.most, v)
		}
	}
	return s
}

// gap is how far a value is from where the goal wants it, up to a constant.
func (s Scale) gap(v float64) (gap float64) {
	switch {
	case len(s.most) == 0:
		return -v
	case len(s.least) == 0:
		return v
	}
	for _, b := range s.least {
		gap += max(0, b-v)
	}
	for _, b := range s.most {
		gap += max(0, v-b)
	}
	return gap
}

// Reached reports whether a value is where the goal wants it, as far as its
// condition tells; nothing better can come then.
func (s Scale) Reached(v float64) bool {
	for _, b := range s.least {
		if !(v >= b) {
			return false
		}
	}
	for _, b := range s.most {
		if !(v <= b) {
			return false
		}
	}
	return len(s.least)+len(s.most) > 0
}

// Compare returns +1 when a is better than b, -1 when it is worse and 0 when
// neither is: by value or, at the same distance, by how much is open.
func (s Scale) Compare(a, b Measure) int {
	switch x, y := s.gap(a.Value), s.gap(b.Value); {
	case x < y:
		return 1
	case x > y:
		return -1
	}
	switch x, y := len(a.Open), len(b.Open); {
	case x < y:
		return 1
	case x > y:
		return -1
	}
	return 0
}

// Trend is where a goal is going.
type Trend int

// The trends.
const (
	Unknown Trend = 1 + iota
	Improving
	Flat
	Regressing
)

// String returns the trend's name.
func (t Trend) String() string {
	if t < Unknown || t > Regressing {
		return "trend(" + strconv.Itoa(int(t)) + ")"
	}
	return [...]string{"unknown", "improving", "flat", "regressing"}[t-Unknown]
}

// Trend says what became of the goal from one measure to the next. Identity
// goes before the value: to break anything is a regression whatever else was
// fixed, and to fix something is none, although more may show that it hid.
func (s Scale) Trend(before, now Measure) Trend {
	fixed, broke, _ := Moved(before.Open, now.Open)
	switch c := s.Compare(now, before); {
	case len(broke) > 0:
		return Regressing
	case len(fixed) > 0 || c > 0:
		return Improving
	case c < 0:
		return Regressing
	}
	return Flat
}
