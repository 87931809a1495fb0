package provider

import (
	"encoding/json"
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

func TestWaitInHeaders(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		name string
		h    http.Header
		want time.Duration
	}{
		{"nothing", header(), 0},
		{"seconds", header("Retry-After", "7"), 7 * time.Second},
		{"fraction", header("Retry-After", "0.25"), 250 * time.Millisecond},
		{"with a unit", header("Retry-After", "1m30s"), 90 * time.Second},
		{"milliseconds first", header("Retry-After", "7", "Retry-After-Ms", "120"), 120 * time.Millisecond},
		{"date", header("Retry-After", "Sun, 01 Mar 2026 12:00:30 GMT"), 30 * time.Second},
		{"date by the server's clock", header("Retry-After", "Sun, 01 Mar 2026 12:00:30 GMT", "Date", "Sun, 01 Mar 2026 12:00:20 GMT"), 10 * time.Second},
		{"past", header("Retry-After", "Sun, 01 Mar 2026 11:00:00 GMT"), 0},
		{"past by the server's clock", header("Retry-After", "Sun, 01 Mar 2026 12:00:30 GMT", "Date", "Sun, 01 Mar 2026 12:05:00 GMT"), 0},
		{"seconds since 1970", header("Retry-After", "1772366460"), time.Minute},
		{"negative", header("Retry-After", "-5"), 0},
		{"not a number", header("Retry-After", "NaN"), 0},
		{"endless", header("Retry-After", "1e300"), year},
		{"a word", header("Retry-After", "soon"), 0},
		{"requests used up", header("X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Requests", "0"), 6 * time.Minute},
		{"the later of two", header("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "27h", "X-Ratelimit-Remaining-Tokens", "0"), 27 * time.Hour},
		{"only what is used up", header("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "27h", "X-Ratelimit-Remaining-Tokens", "12"), time.Second},
		{"what remains is not said", header("X-Ratelimit-Reset-Requests", "6m0s"), 0},
		{"in parts", header("X-Ratelimit-Reset-Tokens", "850ms", "X-Ratelimit-Remaining-Tokens", "0"), 850 * time.Millisecond},
		{"tokens at a moment", header("Anthropic-Ratelimit-Input-Tokens-Reset", "2026-03-01T12:02:00Z", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0"), 2 * time.Minute},
		{"a moment by the server's clock", header("Anthropic-Ratelimit-Requests-Reset", "2026-03-01T12:02:00Z", "Anthropic-Ratelimit-Requests-Remaining", "0", "Date", "Sun, 01 Mar 2026 12:01:00 GMT"), time.Minute},
		{"a moment in another zone", header("Anthropic-Ratelimit-Requests-Reset", "2026-03-01T13:02:00+01:00", "Anthropic-Ratelimit-Requests-Remaining", "0"), 2 * time.Minute},
		{"a moment that is over", header("Anthropic-Ratelimit-Requests-Reset", "2026-03-01T11:02:00Z", "Anthropic-Ratelimit-Requests-Remaining", "0"), 0},
		{"a plan that is used up", header("Anthropic-Ratelimit-Unified-Reset", "1772370000", "Anthropic-Ratelimit-Unified-Status", "rejected"), time.Hour},
		{"a plan that is not", header("Anthropic-Ratelimit-Unified-Reset", "1772370000", "Anthropic-Ratelimit-Unified-Status", "allowed"), 0},
		{"milliseconds since 1970", header("X-Ratelimit-Reset", "1772366460000", "X-Ratelimit-Remaining", "0"), time.Minute},
		{"Retry-After before all others", header("Retry-After", "3", "X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Requests", "0"), 3 * time.Second},
	} {
		if got := Wait(c.h, nil, noon); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWaitInBodies(t *testing.T) {
	for body, want := range map[string]time.Duration{
		``:                     0,
		`Rate limit reached.`:  0,
		`Please try again in.`: 0,
		`Rate limit reached for gpt-5 on requests per day: Limit 200, Used 200, Requested 1. Please try again in 7m12s.`: 7*time.Minute + 12*time.Second,
		`Please try again in 6m0s.`:                             6 * time.Minute,
		`Please try again in 20s. Visit the page about limits.`: 20 * time.Second,
		`Please try again in 857ms.`:                            857 * time.Millisecond,
		`Please try again in 1.5 hours`:                         90 * time.Minute,
		`Try again in 27h`:                                      27 * time.Hour,
		`Your limit resets in 27h 13m (Europe/Berlin)`:          27*time.Hour + 13*time.Minute,
		`Try again in 1 hour and 5 minutes, please`:             65 * time.Minute,
		`Your quota will reset after 5h12m3s.`:                  5*time.Hour + 12*time.Minute + 3*time.Second,
		`Please retry after 12 seconds.`:                        12 * time.Second,
		`Please retry after 12 milliseconds.`:                   12 * time.Millisecond,
		`Please retry in 34.0625s.`:                             34062500 * time.Microsecond,
		`Too many requests, wait 30 seconds`:                    30 * time.Second,
		`Try again in about 2 days`:                             48 * time.Hour,
		`Try again in 99999999999999999999999999999999 hours`:   365 * 24 * time.Hour,
		`Try again in 20 sandwiches`:                            0,
		`Try again at 2026-03-01T12:30:00Z.`:                    30 * time.Minute,
		`You will regain access on 2026-03-02 at 00:00 UTC.`:    12 * time.Hour,
		`Resets at 2026-02-01 00:00 UTC`:                        0,
		`The job ran 20s and 3 hours`:                           0,
		`{"error":{"message":"Please try again in 20s."}}`:      20 * time.Second,
		`{"error":{"retry_after":20}}`:                          20 * time.Second,
		`{"retry_after":"20"}`:                                  20 * time.Second,
		`{"retry_after_ms":1500}`:                               1500 * time.Millisecond,
		`{"retryAfter":1.5}`:                                    1500 * time.Millisecond,
		`{"error":{"type":"usage_limit_reached","resets_at":1772370000,"resets_in_seconds":3600}}`:             time.Hour,
		`{"error":{"resets_at":"2026-03-01T13:00:00Z"}}`:                                                       time.Hour,
		`{"reset_at":"Sun, 01 Mar 2026 12:10:00 GMT"}`:                                                         10 * time.Minute,
		`{"reset_at":1772366460000}`:                                                                           time.Minute,
		`[{"error":{"details":[{"retryDelay":"34.5s"}]}}]`:                                                     34500 * time.Millisecond,
		`{"error":{"details":[{"retry_delay":{"seconds":9}}]}}`:                                                9 * time.Second,
		`{"error":{"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1772366460000"}}}}`: time.Minute,
		`{"retry_after":-3,"message":"try again in 2s"}`:                                                       2 * time.Second,
		`{"retry_after":null,"resets_at":{},"message":"nothing"}`:                                              0,
		`{"retry_after":3,"message":"try again in 2 hours"}`:                                                   3 * time.Second,
		`{"error":{"message":"try again in 1s"}`:                                                               time.Second,
	} {
		if got := Wait(http.Header{}, []byte(body), noon); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
	body := []byte(`{"retry_after":20}`)
	for name, c := range map[string]struct {
		h    http.Header
		want time.Duration
	}{
		"the header before the body": {header("Retry-After", "3"), 3 * time.Second},
		"even when it says zero":     {header("Retry-After", "0"), 0},
		"the body before a limit":    {header("X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Requests", "0"), 20 * time.Second},
		"the body before nonsense":   {header("Retry-After", "soon"), 20 * time.Second},
	} {
		if got := Wait(c.h, body, noon); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Whatever a server says, the wait is one, and nothing else than a Retry-After
// that can be read keeps the words from counting.
func FuzzWait(f *testing.F) {
	f.Add("7", "", "0", "6m0s", `{"retry_after":1e400}`)
	f.Add("Sun, 01 Mar 2026 12:00:30 GMT", "1e-9", "", "2026-03-01T12:02:00Z", "try again in 999999999999h 1m")
	f.Add("", "-Inf", "0", "-9223372036854775808", "resets at 9999-12-31 23:59 UTC")
	f.Fuzz(func(t *testing.T, after, ms, left, reset, body string) {
		h := http.Header{"Retry-After": {after}, "Retry-After-Ms": {ms}, "X-Ratelimit-Remaining-Tokens": {left}, "X-Ratelimit-Reset-Tokens": {reset}}
		if d := Wait(h, []byte(body), noon); d < 0 || d > longest {
			t.Errorf("%v", d)
		}
		if _, ok := retryAfter(h, noon); !ok && !json.Valid([]byte(body)) {
			if d := Wait(h, []byte("try again in 5s. "+body), noon); d < 5*time.Second {
				t.Errorf("%v after being asked for five seconds", d)
			}
		}
	})
}
