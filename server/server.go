// Package server serves runs over HTTP: it starts them, streams them, takes signals for
// them, and resumes them.
//
// Every request needs a bearer token, even on this machine: any page in any browser here
// can send requests to a loopback port. Against such pages, the server also checks the
// Host and Origin headers, and allows nothing across origins. A run that a key may not
// see is indistinguishable from one that does not exist.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
)

// A Store is the journal of the runs that are served.
type Store interface {
	pawl.Journal
	pawl.Inbox
	pawl.Blobs
}

// Options configure a server. The zero value is valid.
type Options struct {
	// Hosts are the accepted values of the Host header, in addition to localhost and
	// the loopback addresses at the listening port: names such as runs.example.org
	// behind a proxy, at any port unless one is given. Over a Unix socket any name is
	// accepted.
	Hosts []string
	// Secure says that people reach the server by https, through a proxy. The
	// inspector's cookie is then sent over https only, except for loopback names.
	Secure bool
	// UI serves the pages at /; nil: a single page that names the server. It is served
	// without a token, and must not reveal anything about runs.
	UI http.Handler
	// Metrics serves /metrics; nil: not found.
	Metrics http.Handler
	// MaxRuns is how many runs the server drives at once, whatever their engines. A
	// request that would drive one more is answered with 429 and Retry-After, and
	// records no run. Zero: any number.
	MaxRuns int
	// LinkKey is the key that signs links to approvals; see package webhook. The server
	// accepts links made with this key by any process. Empty: it accepts links with the
	// request's own token.
	LinkKey []byte
	// Place is where people type the commands that results and reports advise. The
	// zero Place is a shell with pawl's default database.
	Place explain.Place
	// Rests is called with a run's result when this server releases or ends the run,
	// before [Server.Close] returns. Only this result contains the tokens of what the
	// run waits for. It must return quickly. May be nil.
	Rests func(pawl.Result)
	// Log gets every request at level debug, and internal errors at level error. Nil:
	// nothing is logged.
	Log *slog.Logger
}

// A Server serves the runs of one journal. It is an http.Handler; use it in an
// http.Server with limits like those of [Server.Serve].
type Server struct {
	journal      Store
	host         Host
	keys         []hashed
	options      Options
	log          *slog.Logger
	paths        map[string][]*route
	mux          *http.ServeMux
	patient      time.Duration // the time limit for a body
	broadcasters *broadcasters
	links        limiter // for clients that have only a link
	logins       logins
	briefs       kept[runs.Brief]
	verdicts     kept[[]runs.Decided]

	life context.Context // of the runs that are driven here
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	driven map[string]driven
	busy   int // runs that are driven here, or about to be
	all    sync.WaitGroup
}

// New makes a server for the runs in a journal, whose agents host makes, for clients that
// have one of the keys. Close does not close the journal. It is an error if there are no
// keys, or if a token is empty or occurs twice.
func New(journal Store, host Host, keys []Key, o *Options) (*Server, error) {
	if o == nil {
		o = &Options{}
	}
	s := &Server{journal: journal, host: host, options: *o, log: o.Log, driven: map[string]driven{}, patient: bodyTime, links: limiter{burst: 30, rate: 1}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.keys, err = hash(keys); err != nil {
		return nil, err
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.mux, s.paths = s.routing(routes())
	s.broadcasters = newHubs(journal, s.follows)
	return s, nil
}

// Close suspends the runs that the server drives and waits until they are suspended.
// Later requests that need to drive a run are refused.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(errStopped)
	s.all.Wait()
	s.broadcasters.close() // after the watchers have seen the suspensions
	return nil
}

// driven is a run that is driven here, and its engine.
type driven struct {
	*engine.Handle
	engine *engine.Engine
}

// live is a hold on a run that is driven here; nil: it is not. A child is driven with
// its root, and has no hold of its own.
func (s *Server) live(run string) *engine.Handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.driven[run].Handle
}

// follows is a hold on a run or child run that can be followed here; nil: it is not
// driven here.
func (s *Server) follows(run string) *engine.Handle {
	for root, more := run, true; more; { // a child's id begins with its parent's
		s.mu.Lock()
		e := s.driven[root].engine
		s.mu.Unlock()
		if e != nil {
			return e.Live(run)
		}
		i := strings.LastIndexByte(root, '.')
		if more = i > 0; more {
			root = root[:i]
		}
	}
	return nil
}

// desk is the engine to signal a run with: if the run is driven here, the engine that
// drives it, which then reads the signal at once.
func (s *Server) desk(ctx context.Context, run string) (*engine.Engine, error) {
	h, err := runs.RootOf(ctx, s.journal, run)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	here := s.driven[h.Run].engine
	s.mu.Unlock()
	if here != nil {
		return here, nil
	}
	state, err := engine.Load(ctx, s.journal, h.Run)
	return s.host.Desk(state), err
}

var (
	errClosing = errors.New("the server is closing")
	errStopped = errors.New("the server that drove it was stopped") // recorded as the reason of the pause
)

// drive starts or resumes a run under the work's agent, and drives it to its end in the
// background.
func (s *Server) drive(w Work, begin func(ctx context.Context) (*engine.Handle, error)) (*engine.Handle, error) {
	done := w.Done
	if done == nil {
		done = func(string) {}
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		done("")
		return nil, refusal(http.StatusServiceUnavailable, errClosing.Error())
	}
	if most := s.options.MaxRuns; most > 0 && s.busy >= most {
		s.mu.Unlock()
		done("")
		return nil, &engine.BusyError{Max: most}
	}
	s.busy++
	s.all.Add(1) // before Close can wait for it
	s.mu.Unlock()
	h, err := begin(s.life)
	if err != nil {
		done("")
		s.idle()
		if s.life.Err() != nil {
			return nil, refusal(http.StatusServiceUnavailable, errClosing.Error())
		}
		return nil, err
	}
	s.mu.Lock()
	_, twice := s.driven[h.ID()]
	if twice = twice && h.Found(); !twice {
		s.driven[h.ID()] = driven{h, w.Engine}
	}
	s.mu.Unlock()
	go func() {
		defer s.idle()
		<-h.Done()
		r, err := h.Wait(context.Background())
		if twice { // the first driver watches it
			done(h.ID())
			return
		}
		if err != nil {
			s.log.Error("run broke off", "run", h.ID(), "error", err)
		}
		s.mu.Lock()
		if s.driven[h.ID()].Handle == h {
			delete(s.driven, h.ID())
		}
		s.mu.Unlock()
		done(h.ID())
		if err == nil && s.options.Rests != nil {
			s.options.Rests(r)
		}
	}()
	return h, nil
}

// idle says that one run less is driven here.
func (s *Server) idle() {
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	s.all.Done()
}
