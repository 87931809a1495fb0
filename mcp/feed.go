package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// feed hands messages to a program. A Write returns when the program's input has
// the message, or with an error if it has not: a call that came too late is known
// not to have been made. It takes one Write at a time.
type feed struct {
	messages chan []byte
	results  chan error
	closed   chan struct{} // by us
	ended    chan struct{} // the program has
	once     sync.Once     // of closed
}

func newFeed() *feed {
	return &feed{messages: make(chan []byte), results: make(chan error, 1), closed: make(chan struct{}), ended: make(chan struct{})}
}

// serve writes the program's input until that is closed or the program has ended.
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

// Write hands over one message.
func (f *feed) Write(p []byte) (int, error) {
	if err := f.over(); err != nil {
		return 0, err
	}
	select {
	case f.messages <- bytes.Clone(p): // which serve may hold on to after Close
	case <-f.closed:
		return 0, f.over()
	case <-f.ended:
		return 0, f.over()
	}
	select { // a program that has ended lets no write wait
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

// halfError is a message of which the program may have got something.
type halfError struct{ error }

func (e *halfError) Unwrap() error { return e.error }

// telling is a transport that tells the fate of a call whether the server has it.
type telling struct{ sdk.Transport }

func (t telling) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return tellingConn{c}, nil
}

type tellingConn struct{ sdk.Connection }

func (c tellingConn) Write(ctx context.Context, m jsonrpc.Message) error {
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
