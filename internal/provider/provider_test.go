package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		h    http.Header
		want time.Duration
	}{
		{"nothing", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"fraction", http.Header{"Retry-After": {"0.25"}}, 250 * time.Millisecond},
		{"milliseconds first", http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"120"}}, 120 * time.Millisecond},
		{"date", http.Header{"Retry-After": {"Sun, 01 Mar 2026 12:00:30 GMT"}}, 30 * time.Second},
		{"date by the server's clock", http.Header{"Retry-After": {"Sun, 01 Mar 2026 12:00:30 GMT"}, "Date": {"Sun, 01 Mar 2026 12:00:20 GMT"}}, 10 * time.Second},
		{"past", http.Header{"Retry-After": {"Sun, 01 Mar 2026 11:00:00 GMT"}}, 0},
		{"negative", http.Header{"Retry-After": {"-5"}}, 0},
		{"not a number", http.Header{"Retry-After": {"NaN"}}, 0},
		{"endless", http.Header{"Retry-After": {"1e300"}}, 365 * 24 * time.Hour},
		{"a word", http.Header{"Retry-After": {"soon"}}, 0},
	} {
		if got := RetryAfter(c.h, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// drip is a body that gives a byte a second for ever.
type drip struct{ closed chan struct{} }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.closed:
		return 0, io.ErrClosedPipe
	case <-time.After(time.Second):
		p[0] = 'x'
		return 1, nil
	}
}

func (d drip) Close() error {
	select {
	case <-d.closed:
	default:
		close(d.closed)
	}
	return nil
}

func TestBodyIsBounded(t *testing.T) {
	if got := Body(io.NopCloser(strings.NewReader(strings.Repeat("x", 1<<20)))); len(got) != maxBody {
		t.Errorf("%d bytes, want %d", len(got), maxBody)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := Body(drip{make(chan struct{})})
		if d := time.Since(start); d > bodyTime || len(got) < 4 {
			t.Errorf("%d bytes after %v", len(got), d)
		}
	})
}

func TestArgs(t *testing.T) {
	for text, want := range map[string]string{
		"":           `{}`,
		" \n":        `{}`,
		`{"a":1}`:    `{"a":1}`,
		`[1]`:        `[1]`,
		`null`:       `null`,
		`{"a":`:      `"{\"a\":"`,
		"<&>":        `"<&>"`,
		"bad \xff":   `"bad �"`,
		`{"a":1}{}`:  `"{\"a\":1}{}"`,
		`{"a":1} x `: `"{\"a\":1} x "`,
	} {
		if got := string(Args(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for args, want := range map[string]string{` {"a":1}`: `{"a":1}`, `[1]`: `{}`, `"x"`: `{}`, ``: `{}`, `{`: `{}`} {
		if got := string(Object([]byte(args))); got != want {
			t.Errorf("object of %q: %s, want %s", args, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	got := Clip("a\n b " + strings.Repeat("é", 600) + "\xff")
	if !strings.HasPrefix(got, "a b é") || !utf8.ValidString(got) || len(got) > 510 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}
