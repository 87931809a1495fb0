package mcp

import (
	"context"
	"fmt"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Transport is how a server is reached: [Command] or [HTTP]. It can be used
// for several servers, each of which has a connection of its own.
type Transport interface {
	// is tells the servers of one name apart, for their pins, and says what the
	// server is held to, and how; empty: to nothing.
	is() (identity, cage string)
	// open begins a connection. It does not wait for the server.
	open() (line, error)
	// check says what is wrong with the transport.
	check() error
	// restore puts back what of a call's arguments stands for a secret.
	restore(args []byte) []byte
}

// line is one connection's way to its server.
type line struct {
	transport sdk.Transport
	// close ends it and what was started for it. It is called once, last.
	close func()
	// why is what is known of its end, such as an exit code and what the server
	// printed; it may wait a little for that. Nil: nothing.
	why func() error
}

// and is two errors in one line, of which either may be none.
func and(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

// mostMessage bounds one message of a server, in bytes. A result beyond it costs
// the connection, not the memory.
const mostMessage = 8 << 20

// fate is what the transport learns of a call beside its answer: whether the
// server may have it. It travels in the call's context.
type fate struct{ sent atomic.Bool }

type fateKey struct{}

func withFate(ctx context.Context) (context.Context, *fate) {
	f := &fate{}
	return context.WithValue(ctx, fateKey{}, f), f
}

func fateOf(ctx context.Context) *fate {
	f, _ := ctx.Value(fateKey{}).(*fate)
	return f
}

// sending says that the call is being sent. The function that it returns takes
// that back, unless the call was sent before.
func (f *fate) sending() (unsent func()) {
	before := f.sent.Swap(true)
	return func() { f.sent.Store(before) }
}
