package judge

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A quantity is a number as it stands in a text, with what it counts.
type quantity struct {
	value float64
	place float64 // the worth of its last digit: 0.1 for 12.3, 100,000 for 1.2 million
	dim   string  // what is measured, such as time; empty: a plain number
	unit  float64 // what one of it is worth in the dimension's own unit
	bound bound
	text  string  // as it was written
	loose bool    // it counts an item of a list, or what something is out of, and need be nowhere
	also  float64 // another value it may stand for, as 5m may be 5,000,000; zero: none
}

// bound is how exact a number claims to be.
type bound int

const (
	exactly bound = iota
	about
	above
	below
)

var bounds = map[string]bound{
	"about": about, "around": about, "roughly": about, "approximately": about, "approx": about, "nearly": about, "almost": about, "circa": about, "~": about,
	"over": above, "exceeding": above, "exceeds": above, "under": below, "below": below,
}

type unit struct {
	dim  string
	size float64
}

// units by name, in lower case. Those of one letter count only where they stand
// close to their number, as in 5s.
var units = func() map[string]unit {
	all := map[string]unit{}
	for dim, sizes := range map[string]map[string]float64{
		"ratio": {"% percent pct": 0.01},
		"usd":   {"$ usd dollar dollars": 1, "cent cents": 0.01},
		"eur":   {"€ eur euro euros": 1},
		"gbp":   {"£ gbp": 1},
		"time": {"ns nanosecond nanoseconds": 1e-9, "us µs microsecond microseconds": 1e-6, "ms millisecond milliseconds": 1e-3, "s sec secs second seconds": 1,
			"min mins minute minutes": 60, "h hr hrs hour hours": 3600, "day days": 86400, "week weeks": 604800},
		"months": {"month months": 1, "year years": 12},
		"bytes":  {"byte bytes": 1, "kb kib": 1e3, "mb mib": 1e6, "gb gib": 1e9, "tb tib": 1e12},
		"length": {"mm": 1e-3, "cm": 1e-2, "metre metres meter meters": 1, "km": 1e3, "mile miles mi": 1609.344, "ft foot feet": 0.3048},
		"mass":   {"g gram grams": 1e-3, "kg": 1, "lb lbs": 0.45359237},
	} {
		for names, size := range sizes {
			for name := range strings.FieldsSeq(names) {
				all[name] = unit{dim, size}
			}
		}
	}
	return all
}()

var multipliers = map[string]float64{"k": 1e3, "thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "dozen": 12, "hundred": 100}

var numberWords = map[string]float64{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100}

// numberShape is a number that may have a sign, a currency, commas between
// thousands, a decimal part, and something close behind it.
var numberShape = regexp.MustCompile(`^([~≈]?)([-+−]?)([$€£]?)([-−]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?([%a-zµ€£$]*)$`)

// readQuantity reads a word that is a number; false: it is none.
func readQuantity(word string) (quantity, bool) {
	if len(word) > 40 || !strings.ContainsAny(word, "0123456789") {
		return quantity{}, false
	}
	m := numberShape.FindStringSubmatch(word)
	if m == nil {
		return quantity{}, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[5], ",", "")+m[6], 64)
	if err != nil || math.IsInf(v, 0) {
		return quantity{}, false
	}
	q := quantity{value: v, place: 1, text: word}
	if m[6] != "" {
		q.place = math.Pow10(1 - len(m[6]))
	}
	if m[2] == "-" || m[2] == "−" || m[4] != "" {
		q.value = -v
	}
	if m[1] != "" {
		q.bound = about
	}
	if u, ok := units[m[3]]; ok {
		q.dim, q.unit = u.dim, u.size
	}
	switch suffix := m[7]; suffix {
	case "", "x":
	case "st", "nd", "rd", "th": // a place in an order, not a number of anything
		return quantity{}, false
	case "m":
		q.also = q.value * 1e6
	case "b":
		q.also = q.value * 1e9
	default:
		if f, ok := multipliers[suffix]; ok {
			q.scale(f)
		} else if u, ok := units[suffix]; ok {
			q.dim, q.unit = u.dim, u.size
		} else {
			return quantity{}, false
		}
	}
	return q, true
}

func (q *quantity) scale(f float64) { q.value, q.place = q.value*f, q.place*f }

// is reports whether a number that is claimed may be one that is known. What is
// claimed may be rounded, in another unit, or lack the unit; a different kind of
// unit, or another number, is another thing.
func (q quantity) is(known quantity) bool {
	if known.also != 0 && q.close(q.value, known.also) || q.also != 0 && q.close(q.also, known.value) {
		return true
	}
	switch {
	case q.dim == "" || known.dim == "":
		if q.close(q.value, known.value) {
			return true
		}
		if q.dim == "ratio" { // 12% of 0.12
			return q.close(q.value, known.value*100)
		}
		return known.dim == "ratio" && q.close(q.value, known.value/100)
	case q.dim != known.dim:
		return false
	case q.unit == known.unit:
		return q.close(q.value, known.value)
	case q.dim == "bytes": // thousands or 1,024s
		return within(q.value*q.unit, known.value*known.unit, 0.11)
	}
	return q.close(q.value, known.value*known.unit/q.unit)
}

// close compares in the claim's own unit.
func (q quantity) close(claimed, known float64) bool {
	diff := math.Abs(claimed - known)
	if diff <= 1e-9*math.Max(math.Abs(claimed), math.Abs(known)) {
		return true
	}
	switch q.bound {
	case about:
		return within(claimed, known, 0.1)
	case above:
		return known >= claimed && known <= 2*claimed
	case below:
		return known <= claimed && known >= claimed/2
	}
	// Rounded: what is known must have more digits than what is claimed.
	finer := math.Abs(math.Remainder(known, q.place)) > 1e-9*math.Max(1, math.Abs(known))
	return finer && diff <= q.place/2*(1+1e-9)
}

func within(a, b, share float64) bool {
	return math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}

// follows reports whether a number follows from two others by one sum: what is
// computed stands in no result.
func (q quantity) follows(others []quantity) bool {
	for i, a := range others {
		for j, b := range others {
			if i == j {
				continue
			}
			results := []float64{a.value + b.value, a.value - b.value, a.value * b.value}
			if b.value != 0 {
				ratio := a.value / b.value
				results = append(results, ratio, ratio*100, (ratio-1)*100, (1-ratio)*100)
			}
			for _, r := range results {
				if !math.IsInf(r, 0) && q.close(math.Abs(q.value), math.Abs(r)) {
					return true
				}
			}
		}
	}
	return false
}
