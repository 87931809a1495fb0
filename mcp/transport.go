package mcp

import (
	"context"
	"fmt"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Transport is a way to reach a server: [Command] or [HTTP]. It can be used for several
// servers, each of which has its own connection.
type Transport interface {
	// is returns an identity for the pins, which tells servers of one name apart, and a
	// description of the cage; empty: none.
	is() (identity, cage string)
	// open begins a connection whose requests a token authorises; empty: what authorises all does.
	// It does not wait for the server.
	open(token string) (line, error)
	// check returns what is wrong with the transport.
	check() error
	// prepare returns the token of a call's user, and its arguments with the secrets in place of their
	// placeholders.
	prepare(ctx context.Context, args []byte) (token string, filled []byte, err error)
}

// A line is the transport of one connection.
type line struct {
	transport sdk.Transport
	// close ends the line and what was started for it. It is called once, last.
	close func()
	// why returns what is known about the end, such as an exit code and the server's
	// output; it may wait a little. Nil: nothing is known.
	why func() error
}

// and joins two errors in one line. Either may be nil.
func and(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

// mostMessage bounds one message of a server, in bytes. A larger one costs the connection,
// not the memory.
const mostMessage = 8 << 20

// A fate records whether the server may have received a call. It travels in the call's context.
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

// sending records that the call is being sent. The returned function takes that back,
// unless the call was sent before.
func (f *fate) sending() (unsent func()) {
	before := f.sent.Swap(true)
	return func() { f.sent.Store(before) }
}
