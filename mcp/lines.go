package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A feed writes messages to a program. Write returns when the program's input has the
// message, or with an error if it does not: then the call was certainly not made. Only one
// Write may run at a time.
type feed struct {
	messages chan []byte
	results  chan error
	closed   chan struct{} // by Close
	ended    chan struct{} // closed when the program has ended
	once     sync.Once     // of closed
}

func newFeed() *feed {
	return &feed{messages: make(chan []byte), results: make(chan error, 1), closed: make(chan struct{}), ended: make(chan struct{})}
}

// serve writes to the program's input until the feed is closed or the program has ended.
func (f *feed) serve(stdin io.Writer) {
	for {
		select {
		case p := <-f.messages:
			n, err := stdin.Write(p)
			if err != nil && n > 0 {
				err = &halfError{err}
			}
			f.results <- err
		case <-f.closed:
			return
		case <-f.ended:
			return
		}
	}
}

var errEnded = errors.New("the program has ended")

// Write writes one message.
func (f *feed) Write(p []byte) (int, error) {
	if err := f.over(); err != nil {
		return 0, err
	}
	select {
	case f.messages <- bytes.Clone(p): // serve may still use the copy after Close
	case <-f.closed:
		return 0, f.over()
	case <-f.ended:
		return 0, f.over()
	}
	select { // do not wait for a program that has ended
	case err := <-f.results:
		if err != nil {
			return 0, err
		}
		return len(p), nil
	case <-f.closed:
		return 0, &halfError{f.over()}
	}
}

func (f *feed) over() error {
	select {
	case <-f.closed:
		return io.ErrClosedPipe
	case <-f.ended:
		return errEnded
	default:
		return nil
	}
}

// Close ends the program's input.
func (f *feed) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// A halfError is about a message that the program may have received in part.
type halfError struct{ error }

func (e *halfError) Unwrap() error { return e.error }

// fateTransport is a transport that records in a call's fate whether the server has the call.
type fateTransport struct{ sdk.Transport }

func (t fateTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return fateConn{c}, nil
}

type fateConn struct{ sdk.Connection }

func (c fateConn) Write(ctx context.Context, m jsonrpc.Message) error {
	f := fateOf(ctx)
	if r, ok := m.(*jsonrpc.Request); !ok || !r.IsCall() || f == nil {
		return c.Connection.Write(ctx, m)
	}
	unsent := f.sending()
	err := c.Connection.Write(ctx, m)
	if half := (*halfError)(nil); err != nil && !errors.As(err, &half) {
		unsent()
	}
	return err
}

// lines passes on the messages in a program's output, one a line, and keeps other lines
// apart: many servers print a greeting on standard output, which is no reason to fail.
type lines struct {
	to    *io.PipeWriter
	noise io.Writer
	line  []byte
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		part := p
		end := bytes.IndexByte(p, '\n')
		if end >= 0 {
			part = p[:end]
		}
		if len(l.line)+len(part) > mostMessage {
			err := fmt.Errorf("it sent a line of more than %d MiB", mostMessage>>20)
			l.to.CloseWithError(err)
			return 0, err
		}
		l.line = append(l.line, part...)
		if end < 0 {
			break
		}
		p = p[end+1:]
		if err := l.pass(); err != nil {
			return 0, err
		}
	}
	return written, nil
}

// pass passes on a whole line.
func (l *lines) pass() error {
	text := bytes.TrimSpace(bytes.TrimPrefix(l.line, []byte("\ufeff")))
	var err error
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text):
		_, err = l.to.Write(append(readable(text), '\n'))
	case len(text) > 0:
		_, err = l.noise.Write(append(text, '\n'))
	}
	const keep = 64 << 10
	if l.line = l.line[:0]; cap(l.line) > keep {
		l.line = nil
	}
	return err
}
