package provider

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

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
