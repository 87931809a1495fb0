// Package server serves runs over HTTP: it starts them, shows them as they go,
// takes what people say to them, and goes on with them.
//
// Every request has a bearer token, even on this machine: any page in any browser
// here can send requests to a port of loopback. Against pages, the names a request
// may call the server by and the origins it may come from are checked as well, and
// nothing is ever allowed across origins. What a key may not see is not there for
// it: a run that it may not know of is as unknown as one that never was.
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
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/explain"
)

// A Store is the journal of the runs that are served.
type Store interface {
	pawl.Journal
	pawl.Mailbox
	pawl.Blobs
}

// Options are what may be said of a server. The zero value is right.
type Options struct {
	// Hosts are what requests may call the server, in their header Host, beside
	// localhost and the addresses of this machine's loopback at the port that is
	// listened on: names such as runs.example.org behind a proxy, at any port
	// unless one is given. Over a Unix socket any name will do.
	Hosts []string
	// Secure says that people reach the server by https, through a proxy. The
	// inspector's cookie is then sent over https alone, but for names of loopback.
	Secure bool
	// UI serves the pages at /; nil: one page that says what this is. It is asked
	// without a token, and must not say anything of any run.
	UI http.Handler
	// Metrics serves /metrics; nil: there is none.
	Metrics http.Handler
	// LinkKey is the key that links to requests for approval are made with by who
	// tells of runs; see package webhook. A server knows links again that were made
	// with it, whoever made them. Empty: it knows those with the request's own token.
	LinkKey []byte
	// Place is where people type the commands that results and reports advise. The
	// zero Place is a shell beside pawl's default database.
	Place explain.Place
	// Rests is called with what a run has come to when this server lets go of it or
	// ends it, before [Server.Close] returns. The tokens of what the run waits for
	// are in it, and nowhere else. It may not take long. Nil: nobody is told.
	Rests func(pawl.Result)
	// Log is told of every request at debug, and at error of what broke. Nil:
	// nobody is told.
	Log *slog.Logger
}

// A Server serves the runs of one journal. It is an http.Handler, to be used in
// an http.Server whose limits are like those of [Server.Serve].
type Server struct {
	journal Store
	host    Host
	keys    []hashed
	options Options
	log     *slog.Logger
	paths   map[string][]*route
	mux     *http.ServeMux
	patient time.Duration // how long a body may take
	hubs    *hubs
	links   limiter // for who has nothing but a link
	logins  logins

	life context.Context // of the runs that are driven here
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	driven map[string]driven
	all    sync.WaitGroup
}

// New makes a server of the runs in a journal, whose agents a host makes, for
// those who have one of the keys. The journal outlives it. A server without keys
// would be of no use to anybody, and one with an empty token, or with the same
// twice, of use to the wrong ones: these are errors.
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
	s.hubs = newHubs(journal, s.follows)
	return s, nil
}

// Close parks the runs that the server drives and waits until they are parked.
// What is asked of it afterwards that takes driving a run is refused.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(errStopped)
	s.all.Wait()
	s.hubs.close() // who watches has seen that they are
	return nil
}

// driven is a run that is driven here, and by which engine.
type driven struct {
	*engine.Handle
	engine *engine.Engine
}

// live is a hold on a run that is driven here; nil: it is not. A child is driven
// with its root, and has none of its own.
func (s *Server) live(run string) *engine.Handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.driven[run].Handle
}

// follows is a hold on a run that can be followed here, children included; nil: it
// is not driven here.
func (s *Server) follows(run string) *engine.Handle {
	for root, more := run, true; more; { // the ids of children begin with that of their parent
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

// desk is the engine to say something to a run with: the one that drives it, if it
// is driven here, which then knows at once.
func (s *Server) desk(ctx context.Context, run string) (*engine.Engine, error) {
	h, err := desk.Head(ctx, s.journal, run)
	if err == nil {
		h, err = desk.Root(ctx, s.journal, h)
	}
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
	errStopped = errors.New("the server that drove it was stopped") // as runs say why they are paused
)

// drive begins to drive a run under the work's agent, or goes on with one, and
// sees it to its end without anybody waiting for it.
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
	s.all.Add(1) // before Close can wait for it
	s.mu.Unlock()
	h, err := begin(s.life)
	if err != nil {
		done("")
		s.all.Done()
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
		defer s.all.Done()
		<-h.Done()
		r, err := h.Wait(context.Background())
		if twice { // who took it up first looks after it
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
