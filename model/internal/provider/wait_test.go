package provider

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// header makes headers of names and values.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestWait(t *testing.T) {
	const date, left = "Sun, 01 Mar 2026 12:00:30 GMT", "X-Ratelimit-Remaining-Tokens"
	for _, c := range []struct {
		name string
		h    http.Header
		body string
		want time.Duration
	}{
		{"nothing", header(), "", 0},
		{"seconds", header("Retry-After", "0.25"), "", 250 * time.Millisecond},
		{"milliseconds first", header("Retry-After", "7", "Retry-After-Ms", "120"), "", 120 * time.Millisecond},
		{"a date by the server's clock", header("Retry-After", date, "Date", "Sun, 01 Mar 2026 12:00:20 GMT"), "", 10 * time.Second},
		{"past by the server's clock", header("Retry-After", date, "Date", "Sun, 01 Mar 2026 12:05:00 GMT"), "", 0},
		{"seconds since 1970", header("Retry-After", "1772366460"), "", time.Minute},
		{"negative", header("Retry-After", "-5"), "", 0},
		{"not a number", header("Retry-After", "NaN"), "", 0},
		{"endless", header("Retry-After", "1e300"), "", 365 * 24 * time.Hour},
		{"the later of two limits", header("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "27h", left, "0"), "", 27 * time.Hour},
		{"only what is used up", header("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "27h", left, "12"), "", time.Second},
		{"what remains is not said", header("X-Ratelimit-Reset-Requests", "6m0s"), "", 0},
		{"a moment", header("Anthropic-Ratelimit-Input-Tokens-Reset", "2026-03-01T13:02:00+01:00", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0"), "", 2 * time.Minute},
		{"a plan that is used up", header("Anthropic-Ratelimit-Unified-Reset", "1772370000", "Anthropic-Ratelimit-Unified-Status", "rejected"), "", time.Hour},
		{"a plan that is not", header("Anthropic-Ratelimit-Unified-Reset", "1772370000", "Anthropic-Ratelimit-Unified-Status", "allowed"), "", 0},
		{"words", header(), "Limit 200, Used 200, Requested 1. Please try again in 7m12s.", 7*time.Minute + 12*time.Second},
		{"words with spaces", header(), "Your limit resets in 27h 13m (Europe/Berlin)", 27*time.Hour + 13*time.Minute},
		{"milliseconds in words", header(), "Please retry after 12 milliseconds.", 12 * time.Millisecond},
		{"units in words", header(), "Please try again in 1.5 hours", 90 * time.Minute},
		{"other words", header(), "The job ran 20s and 3 hours", 0},
		{"a field", header(), `{"error":{"retry_after":20}}`, 20 * time.Second},
		{"a field in milliseconds", header(), `{"retry_after_ms":1500}`, 1500 * time.Millisecond},
		{"a moment in a field", header(), `{"error":{"resets_at":1772370000}}`, time.Hour},
		{"a moment of OpenRouter", header(), `{"error":{"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1772366460000"}}}}`, time.Minute},
		{"a moment in words", header(), "You will regain access on 2026-03-02 at 00:00 UTC.", 12 * time.Hour},
		{"a moment with a zone", header(), "Try again at 2026-03-01T12:30:00Z.", 30 * time.Minute},
		{"a date in a field", header(), `{"error":{"resets_at":"2026-03-01T13:00:00Z"}}`, time.Hour},
		{"a field with a unit", header(), `[{"error":{"details":[{"retryDelay":"34.5s"}]}}]`, 34500 * time.Millisecond},
		{"the header before the body", header("Retry-After", "0"), `{"retry_after":20}`, 0},
		{"the body before nonsense", header("Retry-After", "soon"), `{"retry_after":20}`, 20 * time.Second},
		{"the body before a limit", header("X-Ratelimit-Reset-Tokens", "6m0s", left, "0"), `{"retry_after":20}`, 20 * time.Second},
	} {
		if got := Wait(c.h, []byte(c.body), noon); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Whatever a server says, the wait is one, and no body hides what it asks for.
func FuzzWait(f *testing.F) {
	f.Add("7", "", "0", "6m0s", `{"retry_after":1e400}`)
	f.Add("Sun, 01 Mar 2026 12:00:30 GMT", "1e-9", "", "2026-03-01T12:02:00Z", "try again in 999999999999h 1m")
	f.Add("", "-Inf", "0", "-9223372036854775808", "resets at 9999999999999")
	f.Fuzz(func(t *testing.T, after, ms, left, reset, body string) {
		h := http.Header{"Retry-After": {after}, "Retry-After-Ms": {ms}, "X-Ratelimit-Remaining-Tokens": {left}, "X-Ratelimit-Reset-Tokens": {reset}}
		if d := Wait(h, []byte(body), noon); d < 0 || d > longest {
			t.Errorf("%v", d)
		}
		if d := Wait(nil, []byte("try again in 5s. "+body), noon); d < 5*time.Second {
			t.Errorf("%v after being asked for five seconds", d)
		}
	})
}
