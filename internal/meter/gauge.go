package meter

import (
	"cmp"
	"regexp"
	"strconv"
)

// A Measure is one reading: a value, and the names of the open items.
type Measure struct {
	Value float64
	Open  []string
}

// A Scale is the set of values that a goal aims at.
type Scale struct{ least, most []float64 }

// bound matches a comparison of the metric in a condition.
var bound = regexp.MustCompile(`\bmetric (==|>=|<=|>|<) (-?[0-9][0-9.eE+-]*)`)

// ScaleOf derives from the source of a success condition whether higher or
// lower values are better, or those near a bound. Without a comparison of the
// metric, as for a Go function, higher values are better.
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

// gap returns the distance of a value from the goal, up to a constant.
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

// Reached reports whether a value satisfies the condition's comparisons; no
// value is better then.
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

// Compare returns +1 if a is better than b, -1 if it is worse and 0 otherwise:
// by value or, at the same distance, by the number of open items.
func (s Scale) Compare(a, b Measure) int {
	return cmp.Or(cmp.Compare(s.gap(b.Value), s.gap(a.Value)), cmp.Compare(len(b.Open), len(a.Open)))
}

// Trend is the direction of a goal's measure.
type Trend string

// The trends.
const (
	Unknown    Trend = "unknown"
	Improving  Trend = "improving"
	Flat       Trend = "flat"
	Regressing Trend = "regressing"
)

// Trend compares two measures. Names count before the value: breaking anything
// is a regression whatever else was fixed, and fixing something is not,
// although it may reveal hidden faults.
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
