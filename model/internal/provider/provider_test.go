package provider

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

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
}

func TestClip(t *testing.T) {
	got := Clip("a\n b " + strings.Repeat("é", 600) + "\xff")
	if !strings.HasPrefix(got, "a b é") || !utf8.ValidString(got) || len(got) > 510 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}

func TestNothing(t *testing.T) {
	if got := Nothing(pawl.Usage{Output: 43, Reasoning: 40}); strings.Contains(got, "billed") {
		t.Error(got)
	}
	if got := Nothing(pawl.Usage{Output: 40}); !strings.Contains(got, "40 tokens of output were billed") {
		t.Error(got)
	}
	if got := Silent(16); !strings.Contains(got, "limit of 16 tokens") {
		t.Error(got)
	}
}
