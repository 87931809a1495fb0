package tool

import (
	"context"
	"io"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// Progress reports how far the call of a tool is that is a Go function: what fraction of its work is
// done, and what it does now. Pass the function's ctx on. A fraction that is not a number from 0 to 1, or
// lower than an earlier one of the call, changes nothing; give -1 if it is not known.
//
//	for i, file := range files {
//		tool.Progress(ctx, float64(i)/float64(len(files)), file)
//		…
//	}
//
// People who watch the run see it, at most five times a second and one line of 200 bytes. What a
// call reported last is in the log if the call is cut short. Progress returns at once, is safe for
// concurrent use, and does nothing after the call has ended or outside of one.
func Progress(ctx context.Context, fraction float64, text string) {
	process.Progress(ctx, fraction, text)
}

// A relay passes lines on to a reader that may have stopped reading, without waiting for it: a line
// that was not written yet is replaced by the next. One goroutine uses it at a time.
type relay struct {
	lines chan string
	over  chan struct{}
}

func newRelay(to io.Writer) *relay {
	r := &relay{lines: make(chan string, 1), over: make(chan struct{})}
	go func() {
		defer close(r.over)
		for line := range r.lines {
			_, _ = io.WriteString(to, line) // the reader may be gone
		}
	}()
	return r
}

func (r *relay) pass(line string) {
	select {
	case <-r.lines:
	default:
	}
	r.lines <- line
}

// close waits a moment until the last line was written.
func (r *relay) close() {
	close(r.lines)
	select {
	case <-r.over:
	case <-time.After(stopEvery):
	}
}
