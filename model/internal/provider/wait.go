package provider

import (
	"bytes"
	"encoding/json"
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
//   - Fields of the body such as retry_after, retryDelay, resets_in_seconds and
//     resets_at, at any depth; the longest of them.
//   - Words of the body, as in "try again in 6m0s", "resets in 27h 13m" or
//     "retry after 12 seconds"; the longest of them.
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
	if d, ok := retryAfter(h, now); ok {
		return d
	}
	if d := inFields(body, now); d > 0 {
		return d
	}
	if d := inWords(body, now); d > 0 {
		return d
	}
	return inLimits(h, now)
}

func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond), true
	}
	return parseWait(h.Get("Retry-After"), time.Second, now)
}

// inLimits reads the reset times of exhausted limits. The two providers name
// them x-ratelimit-reset-tokens and anthropic-ratelimit-tokens-reset.
func inLimits(h http.Header, now time.Time) time.Duration {
	var most time.Duration
	for name, values := range h {
		name = strings.ToLower(name)
		if len(values) == 0 || !strings.Contains(name, "ratelimit") || !strings.Contains(name, "-reset") {
			continue
		}
		left := h.Get(strings.Replace(name, "-reset", "-remaining", 1))
		rejected := h.Get(strings.Replace(name, "-reset", "-status", 1)) == "rejected"
		if n, err := strconv.ParseFloat(left, 64); err == nil && n <= 0 || rejected {
			d, _ := parseWait(values[0], time.Second, now)
			most = max(most, d)
		}
	}
	return most
}

// fields are the names of waits in bodies, without case and underscores, with
// the unit of plain numbers.
var fields = map[string]time.Duration{
	"retryafter":        time.Second,
	"retryafterseconds": time.Second,
	"retryafterms":      time.Millisecond,
	"retrydelay":        time.Second,
	"resetsin":          time.Second,
	"resetin":           time.Second,
	"resetsinseconds":   time.Second,
	"resetinseconds":    time.Second,
	"resetsat":          time.Second,
	"resetat":           time.Second,
	"xratelimitreset":   time.Second,
}

var bare = strings.NewReplacer("_", "", "-", "")

func inFields(body []byte, now time.Time) time.Duration {
	var most time.Duration
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return 0
	}
	var walk func(v any, unit time.Duration)
	walk = func(v any, unit time.Duration) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e, unit)
			}
		case map[string]any:
			if unit != 0 { // the form of a protocol buffers duration
				walk(v["seconds"], unit)
			}
			for k, e := range v {
				walk(e, fields[bare.Replace(strings.ToLower(k))])
			}
		case json.Number:
			walk(v.String(), unit)
		case string:
			if unit != 0 {
				d, _ := parseWait(v, unit, now)
				most = max(most, d)
			}
		}
	}
	walk(doc, 0)
	return most
}

const span = `((?:\d+(?:\.\d+)?\s*(?:milliseconds?|minutes?|seconds?|hours?|mins?|secs?|days?|hrs?|ms|m|s|h|d)(?:\s*,?\s*(?:and\s+)?)?)+)(?:[^a-z]|$)`

var (
	inSpan = regexp.MustCompile(`(?i)\b(?:again|retry(?:ing)?|resets?|available|wait)\s+(?:in|after|for)?\s*(?:about|approximately|another|~)?\s*` + span)
	atTime = regexp.MustCompile(`(?i)\b(?:again|retry|resets?|available|access)\s+(?:at|on|after)\s+(\d{4}-\d\d-\d\d(?:T| at | )\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|UTC|[+-]\d\d:?\d\d)?)`)
	amount = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
)

var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

func inWords(body []byte, now time.Time) time.Duration {
	var most time.Duration
	for _, m := range inSpan.FindAllSubmatch(body, -1) {
		d, _ := parseSpan(string(m[1]))
		most = max(most, d)
	}
	for _, m := range atTime.FindAllSubmatch(body, -1) {
		if at, ok := parseMoment(string(m[1])); ok {
			most = max(most, clamp(at.Sub(now)))
		}
	}
	return most
}

// parseWait parses a number, a span such as 1m30s, or a moment. A number too
// large for a wait in its unit is a moment in seconds or milliseconds since
// 1970.
func parseWait(s string, unit time.Duration, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case n >= 1e12 && n < 1e14:
			return clamp(time.UnixMilli(int64(n)).Sub(now)), true
		case n >= 1e9 && n < 1e11:
			return clamp(time.Unix(int64(n), 0).Sub(now)), true
		}
		return duration(n, unit), true
	}
	if at, ok := parseMoment(s); ok {
		return clamp(at.Sub(now)), true
	}
	return parseSpan(s)
}

func parseMoment(s string) (time.Time, bool) {
	if at, err := http.ParseTime(s); err == nil {
		return at, true
	}
	s = strings.Replace(s, " at ", " ", 1)
	s = strings.TrimSpace(strings.TrimSuffix(s, "UTC"))
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.Parse(form, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// parseSpan adds up amounts, as in "1h30m", "27h 13m" and "1.5 hours".
func parseSpan(s string) (time.Duration, bool) {
	var sum time.Duration
	found := amount.FindAllStringSubmatch(s, -1)
	for _, m := range found {
		name := strings.ToLower(m[2])
		unit, ok := units[name]
		if !ok {
			unit, ok = units[strings.TrimSuffix(name, "s")]
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if !ok || err != nil && n == 0 {
			return 0, false
		}
		sum = clamp(sum + duration(n, unit))
	}
	return sum, len(found) > 0
}

func duration(n float64, unit time.Duration) time.Duration {
	if !(n > 0) { // also false for NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longest)))
}

func clamp(d time.Duration) time.Duration { return max(0, min(d, longest)) }
