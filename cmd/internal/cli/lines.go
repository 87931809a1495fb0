package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"sync"
)

// lineReader reads lines for questions that may be withdrawn before they are answered.
// A read cannot be cancelled, so it outlives its question. A line typed before the
// next question is shown is dropped: it cannot be its answer.
type lineReader struct {
	in   *bufio.Reader
	mark *lockedWriter // shows a mark where a line is typed; nil: nobody types

	mu      sync.Mutex
	reading bool
	waiting chan typed // the waiting question; nil: none
}

type typed struct {
	line string
	err  error
}

// newLineReader reads lines of in. mark is the terminal of the person who types them; nil:
// there is none.
func newLineReader(in io.Reader, mark *lockedWriter) *lineReader {
	if in == nil {
		in = strings.NewReader("")
	}
	return &lineReader{in: bufio.NewReader(in), mark: mark}
}

// next returns the next line without its line end; io.EOF: there is none.
func (l *lineReader) next(ctx context.Context) (string, error) {
	mine := make(chan typed, 1)
	l.mu.Lock()
	l.waiting = mine
	if !l.reading {
		l.reading = true
		go l.read()
	}
	l.mu.Unlock()
	if l.mark != nil {
		l.mark.ask("? ")
		defer l.mark.asked()
	}
	select {
	case t := <-mine:
		if l.mark != nil && t.err == nil {
			l.mark.typed()
		}
		return t.line, t.err
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.waiting == mine {
			l.waiting = nil
		}
		return "", context.Cause(ctx)
	}
}

func (l *lineReader) read() {
	line, err := l.in.ReadString('\n')
	if line != "" {
		err = nil // a last line without an end is one
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading = false
	if l.waiting != nil {
		l.waiting <- typed{strings.TrimRight(line, "\r\n"), err}
		l.waiting = nil
	}
}

// drain drops what was typed and not read, on a terminal; other inputs do not show
// what was typed already.
func (l *lineReader) drain(in io.Reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading {
		return // the current line was begun on purpose
	}
	_, _ = l.in.Discard(l.in.Buffered())
	if f, ok := in.(*os.File); ok {
		flushInput(f)
	}
}
