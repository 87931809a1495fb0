// Package display prepares texts for readers: it formats numbers and durations, shortens long texts to
// their beginning and end, removes what would act on a terminal, describes who holds a run, and says what a
// person can do about one.
package display

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Group writes a number with commas between thousands.
func Group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Group(n) + " " + noun
}

// Said returns one if n is 1, and else many with n in the place of its %d.
func Said(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// Duration writes a duration as limits and conditions do: 30m, not 30m0s.
func Duration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(s) - len(zero) + 1; n > 0 && s[n-1:] == zero {
			s = s[:n]
		}
	}
	return s
}

// Spoken writes a duration as people say it, exactly: 30 minutes, 1 hour 30 minutes, 2.5 seconds.
func Spoken(d time.Duration) string {
	var words []string
	for _, unit := range []struct {
		of   time.Duration
		noun string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.of); n > 0 {
			words = append(words, Count(n, unit.noun))
			d -= time.Duration(n) * unit.of
		}
	}
	exact := func(of time.Duration) string {
		return strconv.FormatFloat(float64(d)/float64(of), 'f', -1, 64)
	}
	switch {
	case d == time.Second:
		words = append(words, "1 second")
	case d > time.Second, d > 0 && len(words) > 0:
		words = append(words, exact(time.Second)+" seconds")
	case d > 0:
		return exact(time.Millisecond) + " ms"
	}
	return strings.Join(words, " ")
}

// Lasting formats a duration that passed: 20 ms, 1.5 s, 2m3s.
func Lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// Dollars formats an amount of money with four decimals, or a smaller one with
// two significant digits.
func Dollars(v float64) string {
	sign, digits := "", 4
	if v < 0 {
		sign, v = "-", -v
	}
	if v > 0 && v < 0.0001 {
		digits = 1 - int(math.Floor(math.Log10(v)))
	}
	return sign + "$" + strconv.FormatFloat(v, 'f', digits, 64)
}

// Progress says in a few words how far a call is, such as "40 %: 12 of 30 files".
func Progress(fraction float64, text string) string {
	switch {
	case !(fraction > 0 && fraction <= 1): // none, or unknown
		return text
	case text == "":
		return fmt.Sprintf("%.0f %%", 100*fraction)
	}
	return fmt.Sprintf("%.0f %%: %s", 100*fraction, text)
}
