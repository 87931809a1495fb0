package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/retry"
)

// A link is a connection, open or closed.
type link struct {
	session *sdk.ClientSession
	line    line
	gone    chan struct{} // closed when the connection is lost
	stale   atomic.Bool   // the server has announced other tools
	all     []definition
	pins    map[string]string // by the server's names
	ended   sync.Once         // of gone
	dropped sync.Once

	mu    sync.Mutex
	calls []*dialogue // those of the calls in progress
}

// begin begins the dialogue of a call. The caller ends it.
func (l *link) begin(d *dialogue) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.within, d.ask = 0, nil
	l.calls = append(l.calls, d)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calls = slices.DeleteFunc(l.calls, func(of *dialogue) bool { return of == d })
	}
}

// asked answers what a server asks while a call is open, as servers did before the protocol's
// revision of July 2026. The request does not say which call it belongs to. As long as nobody
// has decided, the server gets to know that the question was dismissed.
func (l *link) asked(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) != 1 {
		return nil, fmt.Errorf("a person can be asked while one call is open; now there are %d", len(l.calls))
	}
	d := l.calls[0]
	d.within++
	result, err := d.answer(strconv.Itoa(d.within), r.Params)
	if err != nil {
		d.ask = cmp.Or(d.ask, err)
		return &sdk.ElicitResult{Action: "cancel"}, nil //nolint:nilerr // the call returns it
	}
	return result, nil
}

// progressed passes on what a server reports of a call that is open. A total that is not known
// leaves the value for the text.
func (l *link) progressed(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.calls {
		if d.token == r.Params.ProgressToken {
			text := visible(r.Params.Message)
			if r.Params.Total == 0 && text == "" {
				text = strconv.FormatFloat(r.Params.Progress, 'g', 6, 64)
			}
			d.report(r.Params.Progress/r.Params.Total, text)
		}
	}
}

// over marks the connection as lost.
func (l *link) over() { l.ended.Do(func() { close(l.gone) }) }

// drop ends the connection and what was started for it.
func (l *link) drop() {
	l.over()
	l.dropped.Do(func() {
		// Closing waits for pending calls, which a server that does not read blocks for ever, so
		// the transport below them is closed at the same time.
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if l.session != nil {
				_ = l.session.Close()
			}
		}()
		select {
		case <-closed:
		case <-time.After(patience / 4):
		}
		l.line.close()
	})
}

// implementation is how this client introduces itself.
var implementation = &sdk.Implementation{Name: "pawl", Version: "1"}

// dial opens a connection with a token and lists the server's tools.
func (s *Server) dial(ctx context.Context, token string) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.Opening, fmt.Errorf("it did not answer within %v: %w", s.opt.Opening, context.DeadlineExceeded))
	defer cancel()
	way, err := s.transport.open(token)
	if err != nil {
		return nil, s.wrong(err)
	}
	l := &link{line: way, gone: make(chan struct{})}
	client := sdk.NewClient(implementation, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{ // the server may ask a person, but not the model
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          l.asked,
		ProgressNotificationHandler: l.progressed,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { l.stale.Store(true) },
	})
	// Connecting does not always end with its context.
	done := make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		session, err := client.Connect(ctx, way.transport, nil)
		if err == nil {
			l.session = session
			err = s.read(ctx, l)
		}
		failed = err
	}()
	select {
	case <-done:
		if err = failed; err != nil && ctx.Err() == nil {
			err = and(way.why(), err)
		}
	case <-ctx.Done():
		err = and(context.Cause(ctx), way.why())
		go func() { // connecting fails when the line is closed
			<-done
			l.drop()
		}()
		way.close()
		return nil, s.wrong(err)
	}
	if err != nil {
		l.drop()
		return nil, s.wrong(err)
	}
	go func() {
		_ = l.session.Wait()
		l.over()
	}()
	return l, nil
}

func (s *Server) wrong(err error) error { return fmt.Errorf("mcp server %s: %w", s.name, err) }

// read lists the tools. If they change meanwhile, the next call lists them again.
func (s *Server) read(ctx context.Context, l *link) error {
	l.stale.Store(false)
	all, err := list(ctx, l.session, s.opt.Identity)
	if err != nil {
		l.stale.Store(true)
		return err
	}
	l.all, l.pins = all, map[string]string{}
	for _, d := range all {
		l.pins[d.name] = d.pin
	}
	return nil
}

// A session is what a server knows of one user: a connection, which is made again when it is lost.
type session struct {
	token string
	turn  chan struct{} // holds the token to change now
	now   *link         // nil: not connected

	calls int         // in progress, under the server's mu
	idle  *time.Timer // ends the session; nil: a call is in progress, or there was none
}

func newSession(token string) *session { return &session{token: token, turn: make(chan struct{}, 1)} }

// idleTime is how long the session of a user stays open without a call.
const idleTime = 5 * time.Minute

// enter returns the session of a call's user, which the call leaves in the end, and the arguments to send.
func (s *Server) enter(ctx context.Context, args []byte) (in *session, filled []byte, leave func(), err error) {
	token, filled, err := s.transport.prepare(ctx, args)
	if err != nil || token == "" {
		return s.own, filled, func() {}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		return nil, nil, nil, &retry.NotRunError{Err: s.wrong(errClosed)}
	}
	if in = s.users[token]; in == nil {
		in = newSession(token)
		s.users[token] = in
	}
	if in.calls++; in.idle != nil {
		in.idle.Stop()
	}
	return in, filled, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if in.calls--; in.calls == 0 {
			in.idle = time.AfterFunc(idleTime, func() { s.forget(in) })
		}
	}, nil
}

// forget ends the session of a user, unless a call is in progress.
func (s *Server) forget(of *session) {
	s.mu.Lock()
	unused := of.calls == 0 && s.users[of.token] == of
	if unused {
		delete(s.users, of.token)
	}
	s.mu.Unlock()
	if unused {
		of.end()
	}
}

// end ends the connection.
func (in *session) end() {
	in.turn <- struct{}{}
	defer func() { <-in.turn }()
	if in.now != nil {
		in.now.drop()
	}
}

// How often connecting is tried for one call, and the wait before the second try, which
// doubles. A program that dies at once is thus started four times for a call, in about a
// second.
const (
	mostTries = 4
	firstWait = 150 * time.Millisecond
)

var errClosed = errors.New("it was disconnected at the end of the run")

// link returns a connection with an up-to-date list of tools, connecting again if
// necessary. The caller compares the tools with pins.
func (s *Server) link(ctx context.Context, in *session) (l *link, pins map[string]string, err error) {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	case <-s.ended:
		return nil, nil, s.wrong(errClosed)
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	for try := range mostTries {
		if try > 0 && !retry.Wait(ctx, firstWait<<(try-1)) {
			return nil, nil, context.Cause(ctx)
		}
		select {
		case <-s.ended:
			return nil, nil, s.wrong(errClosed)
		default:
		}
		if l, err = s.ready(ctx, in); err == nil {
			return l, l.pins, nil
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
	}
	return nil, nil, fmt.Errorf("%w (tried %d times)", err, mostTries)
}

// ready is one try to get an up-to-date connection.
func (s *Server) ready(ctx context.Context, in *session) (*link, error) {
	if in.now != nil {
		select {
		case <-in.now.gone:
			in.now.drop()
			in.now = nil
		default:
		}
	}
	if in.now == nil {
		l, err := s.dial(ctx, in.token)
		if err != nil {
			return nil, err
		}
		in.now = l
		return l, nil
	}
	if !in.now.stale.Load() {
		return in.now, nil
	}
	bounded, cancel := context.WithTimeout(ctx, s.opt.Opening)
	defer cancel()
	if err := s.read(bounded, in.now); err != nil {
		if ctx.Err() == nil { // the next try has a new connection
			in.now.drop()
			in.now = nil
		}
		return nil, s.wrong(err)
	}
	return in.now, nil
}
