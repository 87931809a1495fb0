package provider

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The longest accepted wait.
const longest = 365 * 24 * time.Hour

// Wait returns how long an error asks to wait before the next request; zero: it
// does not say. The first of these counts:
//
//   - Retry-After-Ms in milliseconds, or Retry-After in seconds or as an HTTP
//     date (RFC 9110, 10.2.3). What they say counts even when it is zero or lies
//     in the past.
//   - Words and fields of the body, as in "try again in 6m0s", "resets in 27h 13m",
//     "retryDelay":"34s", "resets_in_seconds":97200 or "access on 2026-03-02 at 00:00 UTC";
//     the longest of them.
//   - The headers that tell when a limit that has nothing remaining is reset:
//     x-ratelimit-reset-* and anthropic-ratelimit-*-reset; the longest of them.
//     They come last because they say when all of a limit is back, not when some is.
//
// A moment is relative to the response's Date, or else to now, so that a wrong
// clock on either side does not matter. A wait is at least zero and at most a
// year.
func Wait(h http.Header, body []byte, now time.Time) time.Duration {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return within(ms * float64(time.Millisecond))
	}
	if d, ok := parseWait(h.Get("Retry-After"), now); ok {
		return d
	}
	if d := inBody(body, now); d > 0 {
		return d
	}
	return inLimits(h, now)
}

// inLimits reads the reset times of exhausted limits. The two providers name
// them x-ratelimit-reset-tokens and anthropic-ratelimit-tokens-reset.
func inLimits(h http.Header, now time.Time) time.Duration {
	var most time.Duration
	for name := range h {
		name = strings.ToLower(name)
		if !strings.Contains(name, "ratelimit") || !strings.Contains(name, "-reset") {
			continue
		}
		left := h.Get(strings.Replace(name, "-reset", "-remaining", 1))
		if left == "0" || h.Get(strings.Replace(name, "-reset", "-status", 1)) == "rejected" {
			d, _ := parseWait(h.Get(name), now)
			most = max(most, d)
		}
	}
	return most
}

const (
	spans  = `((?:\d[\d.]*\s*[a-z]*\s*)+)`
	moment = `\d{4}-\d\d-\d\d(?:T| at | )\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?`
)

var (
	asked  = regexp.MustCompile(`(?i)\b(?:again|retry|resets?|access)[ _]?(?:(?:in|after|delay)(_?ms)?(?:_?seconds)?["\s:]*` + spans + `|(?:at|on)?["\s:]*(\d{10,13}|` + moment + `))`)
	span   = regexp.MustCompile(`(?i)^` + spans + `$`)
	amount = regexp.MustCompile(`(?i)(\d[\d.]*)\s*([a-z]*)`)
)

// forms are those of moments in texts, which may lack their seconds and their zone.
var forms = []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateTime, "2006-01-02 15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"}

func inBody(body []byte, now time.Time) time.Duration {
	var most time.Duration
	for _, m := range asked.FindAllStringSubmatch(string(body), -1) {
		d, _ := parseWait(m[3], now)
		if m[3] == "" {
			d, _ = parseSpan(m[2])
		}
		if m[1] != "" {
			d /= 1000
		}
		most = max(most, d)
	}
	return most
}

// parseWait parses a number of seconds, a span such as 1m30s, or a moment: a
// date, or seconds or milliseconds since 1970.
func parseWait(s string, now time.Time) (time.Duration, bool) {
	if at, err := http.ParseTime(s); err == nil {
		return within(float64(at.Sub(now))), true
	}
	for _, form := range forms {
		if at, err := time.Parse(form, strings.Replace(s, " at ", " ", 1)); err == nil {
			return within(float64(at.Sub(now))), true
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return parseSpan(s)
	case n >= 1e12 && n < 1e14:
		return within(float64(time.UnixMilli(int64(n)).Sub(now))), true
	case n >= 1e9 && n < 1e11:
		return within(float64(time.Unix(int64(n), 0).Sub(now))), true
	}
	return within(n * float64(time.Second)), true
}

// parseSpan adds up amounts, as in "1h30m", "27h 13m" and "1.5 hours"; one
// without a unit is in seconds.
func parseSpan(s string) (time.Duration, bool) {
	sum := 0.0
	for _, m := range amount.FindAllStringSubmatch(s, -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		unit := time.Second
		switch name := strings.ToLower(m[2]); {
		case strings.HasPrefix(name, "ms"), strings.HasPrefix(name, "mil"):
			unit = time.Millisecond
		case strings.HasPrefix(name, "m"):
			unit = time.Minute
		case strings.HasPrefix(name, "h"):
			unit = time.Hour
		case strings.HasPrefix(name, "d"):
			unit = 24 * time.Hour
		}
		sum += n * float64(unit)
	}
	return within(sum), span.MatchString(s)
}

// within is a number of nanoseconds as a wait.
func within(n float64) time.Duration {
	if !(n > 0) { // also false for NaN
		return 0
	}
	return time.Duration(min(n, float64(longest)))
}
