package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"sync"
)

// lineReader reads lines for questions that may be over before they are
// answered. Reading cannot be called off, so a read goes on after its question;
// what is typed before another one is asked is for nobody and is dropped: it
// must not answer what nobody had seen when it was typed.
type lineReader struct {
	in *bufio.Reader

	mu      sync.Mutex
	reading bool
	waiting chan typed // who is asked; nil: nobody
}

type typed struct {
	line string
	err  error
}

func newLineReader(in io.Reader) *lineReader {
	if in == nil {
		in = strings.NewReader("")
	}
	return &lineReader{in: bufio.NewReader(in)}
}

// next is the next line without its end; io.EOF: there is none.
func (l *lineReader) next(ctx context.Context) (string, error) {
	mine := make(chan typed, 1)
	l.mu.Lock()
	l.waiting = mine
	if !l.reading {
		l.reading = true
		go l.read()
	}
	l.mu.Unlock()
	select {
	case t := <-mine:
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

// drain drops what was typed and not read, where that can be told from what is
// yet to come: on a terminal.
func (l *lineReader) drain(in io.Reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading {
		return // the line that is being typed was begun by itself
	}
	_, _ = l.in.Discard(l.in.Buffered())
	if f, ok := in.(*os.File); ok {
		flushInput(f)
	}
}
