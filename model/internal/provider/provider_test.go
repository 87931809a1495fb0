package provider

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
