// Package provider is what the adapters of model providers have in common:
// reading answers that are no replies, and the arguments models write.
package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds on the body of an error. A server that never ends one would otherwise
// hold the run.
const (
	maxBody  = 16 << 10
	bodyTime = 5 * time.Second
)

// Body reads the beginning of an error's body and closes it. What cannot be
// read in time or size is left out.
func Body(rc io.ReadCloser) []byte {
	t := time.AfterFunc(bodyTime, func() { rc.Close() })
	defer t.Stop()
	defer rc.Close()
	b, _ := io.ReadAll(io.LimitReader(rc, maxBody))
	return b
}

// Clip shortens a text of unknown origin to one that fits an error, in valid
// UTF-8 and on one line.
func Clip(s string) string {
	const most = 500
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= most {
		return s
	}
	n := most
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// RetryAfter is how long a response asks to wait: retry-after-ms in
// milliseconds, or Retry-After in seconds or as an HTTP date (RFC 9110, 10.2.3).
// A date counts from the response's own Date, so that a wrong clock on either
// side does not matter. Zero: it asks for nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return duration(s, time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}

// duration refuses what is no sensible wait: less than nothing, or so long that
// it would overflow.
func duration(n float64, unit time.Duration) time.Duration {
	const most = 365 * 24 * time.Hour
	if !(n > 0) { // also NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(most)))
}

// Args is what a model wrote as the arguments of a call, as JSON: nothing
// stands for no arguments, JSON for itself, any other text for a JSON string,
// which validation will refuse.
func Args(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return Marshal(strings.ToValidUTF8(text, "\uFFFD"))
}

// Object is args when they are an object, and {} when they are not: providers
// take nothing else, and refuse every later request of a conversation that has
// it once. That it was something else, the call's result says.
func Object(args json.RawMessage) json.RawMessage {
	if b := bytes.TrimSpace(args); len(b) > 0 && b[0] == '{' && json.Valid(b) {
		return b
	}
	return json.RawMessage("{}")
}

// Marshal is json.Marshal without escaping <, > and &, for values that have a
// JSON form.
func Marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("provider: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
