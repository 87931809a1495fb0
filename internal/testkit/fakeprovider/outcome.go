package fakeprovider

import (
	"context"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/pawl-run/pawl/internal/retry"
)

// An outcome is what a client gets, as bytes.
type outcome struct {
	status int
	header http.Header
	units  [][]byte // what is written at once
	wait   time.Duration
	chunk  int  // bytes a write, whatever the options say; 0: as they say
	silent bool // not even a status is sent
	hasty  bool // the headers go out before the wait
	ending ending
	pulse  []byte // what an ending without end repeats
	struck bool
	stale  bool // the connection will be found closed by the next request
}

// An ending is what happens after the last byte.
type ending int

const (
	whole   ending = iota // the answer is over, in order
	dropped               // the connection is closed in the middle
	reset                 // and reset, where that can be
	stalled               // nothing more comes
	endless               // the pulse comes, for ever
)

// The pause between the pulses of what has no end.
const beat = 10 * time.Millisecond

func (o *outcome) code() int {
	if o.silent {
		return 0
	}
	return o.status
}

// cut ends the outcome after k units; the middle for 0. Of a single unit it
// keeps k bytes.
func (o *outcome) cut(k int, e ending) {
	o.ending = e
	if len(o.units) > 1 {
		o.units = o.units[:place(k, len(o.units))]
		return
	}
	if len(o.units) == 1 {
		o.units = [][]byte{o.units[0][:place(k, len(o.units[0]))]}
	}
}

// place is position k of n, from 1; 0 stands for the middle. It is never the
// end, where there would be nothing to strike.
func place(k, n int) int {
	if k <= 0 {
		k = n / 2
	}
	return max(0, min(k, n-1))
}

// send writes the outcome. It returns when all is written, the client has gone
// or the server is closed.
func (o *outcome) send(ctx context.Context, w http.ResponseWriter, opts *Options) {
	if o.silent {
		if o.ending == reset || !retry.Wait(ctx, o.wait) {
			abort(w)
		}
		if o.ending == stalled {
			<-ctx.Done()
		}
		abort(w)
	}
	maps.Copy(w.Header(), o.header)
	ctl := http.NewResponseController(w)
	if o.hasty {
		w.WriteHeader(o.status)
		_ = ctl.Flush()
	}
	if !retry.Wait(ctx, o.wait) {
		abort(w)
	}
	if !o.hasty {
		w.WriteHeader(o.status)
	}
	for _, u := range o.units {
		if len(u) == 0 {
			continue
		}
		if !o.unit(ctx, w, u, opts) {
			abort(w)
		}
	}
	switch o.ending {
	case dropped:
		panic(http.ErrAbortHandler)
	case reset:
		abort(w)
	case stalled:
		_ = ctl.Flush()
		<-ctx.Done()
		abort(w)
	case endless:
		for retry.Wait(ctx, beat) && o.unit(ctx, w, o.pulse, opts) {
		}
		abort(w)
	}
}

// unit writes some bytes, in as many writes as are wanted.
func (o *outcome) unit(ctx context.Context, w http.ResponseWriter, u []byte, opts *Options) bool {
	n := opts.Chunk
	if o.chunk > 0 {
		n = o.chunk
	}
	if n <= 0 {
		n = len(u)
	}
	for len(u) > 0 {
		part := u[:min(n, len(u))]
		if _, err := w.Write(part); err != nil || ctx.Err() != nil {
			return false
		}
		u = u[len(part):]
		if http.NewResponseController(w).Flush() != nil {
			return false
		}
	}
	return true
}

// abort resets the connection. HTTP/2 has no connection of its own to reset, so
// there the stream is.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = c.NetConn()
		}
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
