// Package server serves runs over HTTP, with a JSON API, server-sent events and the run
// inspector. Clients start runs, follow them, send them signals (approvals, answers, results,
// messages) and resume them. The command pawl serve is this server; docs/server.md describes its
// routes, and package server/client is a client in Go. A [Host] of the program's own says which
// agents there are.
//
// Every request needs a bearer token, even on this machine: any page in any browser here can
// send requests to a loopback port. Against such pages, the server also checks the Host and
// Origin headers, and allows no cross-origin requests. A run that a key may not see cannot be
// distinguished from one that does not exist.
package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
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
	// MaxPerAgent and MaxPerTenant are how many runs of one agent, and of one tenant, may be
	// driven at once when the server takes a queued run; see worker.Options.
	MaxPerAgent, MaxPerTenant int
	// LinkKey is the key that signs links to approvals (see package webhook) and the cookies of
	// browsers. The server accepts what any process signed with this key. Empty: it accepts
	// links with the request's own token, and cookies end with the process.
	LinkKey []byte
	// Place is where people type the commands that results and reports advise. The
	// zero Place is a shell with pawl's default database.
	Place explain.Place
	// Rests is called with a run's result when this server releases or ends the run,
	// before [Server.Close] returns. Only this result contains the tokens of what the
	// run waits for. It must return quickly. May be nil.
	Rests func(pawl.Result)
	// Triggers start runs at times, on signed requests, and for files.
	Triggers []Trigger
	// Public is the URL of the server in links and in cards of the Agent2Agent protocol,
	// without a path. Empty: the one that the request used.
	Public string
	// A2A serves the agents over the Agent2Agent protocol, too: a task is a run, and a context
	// a thread. It is the agent of the card at /.well-known/agent-card.json, and of requests
	// that name no tenant; an interface of a card names its agent. Empty: not served.
	A2A string
	// Log gets every request at level debug, and internal errors at level error. Nil:
	// nothing is logged.
	Log *slog.Logger
}

// A Server serves the runs of one journal. It is an http.Handler; use it in an
// http.Server with limits like those of [Server.Serve].
type Server struct {
	journal    Store
	host       Host
	keys       []hashed
	options    Options
	log        *slog.Logger
	paths      map[string][]*route
	mux        *http.ServeMux
	patient    time.Duration                   // the time limit for a body
	live       func(run string) *engine.Handle // a run that is driven here; nil: it is not
	closing    chan struct{}                   // closed when the server closes
	close      sync.Once
	links      limiter // for clients that have only a link
	ended      ended
	sessionKey []byte
	briefs     kept[runs.Brief]
	verdicts   kept[[]runs.Decision]
	statistics keptStats
	since      time.Time
	triggers   []*trigger

	worker *worker.Worker
}

// New makes a server for the runs in a journal, whose agents host makes, for clients that
// have one of the keys. Close does not close the journal. It is an error if there are no
// keys, or if a token is empty or occurs twice.
func New(journal Store, host Host, keys []Key, o *Options) (*Server, error) {
	o = cmp.Or(o, &Options{})
	s := &Server{journal: journal, host: host, options: *o, log: o.Log, patient: bodyTime, links: limiter{burst: 30, rate: 1}, since: time.Now()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.sessionKey = o.LinkKey; len(s.sessionKey) == 0 {
		s.sessionKey = web.NewLinkKey()
	}
	var err error
	if s.keys, err = hash(keys); err != nil {
		return nil, err
	}
	s.worker = worker.New(journal, ownHost{host}, &worker.Options{Slots: o.MaxRuns, MaxPerAgent: o.MaxPerAgent, MaxPerTenant: o.MaxPerTenant, Reason: errStopped, Rests: o.Rests, Log: s.log})
	if s.triggers, err = prepare(o.Triggers); err != nil {
		return nil, err
	}
	s.mux, s.paths = s.routing(routes())
	s.routeA2A()
	s.live, s.closing = s.worker.Follow, make(chan struct{})
	return s, nil
}

// Close suspends the runs that the server drives and waits until they are suspended.
// Later requests that need to drive a run are refused.
func (s *Server) Close() error {
	err := s.worker.Close()
	s.close.Do(func() { close(s.closing) }) // those who follow runs see the suspensions first
	return err
}

// Sweep resumes runs of the host's agents that have no owner, whichever process drove
// them before, and takes queued runs, as package runs/worker does. Of several servers and
// workers on one journal one drives each run. Sweep returns when ctx has ended or the
// server is closed. [Server.Serve] sweeps by itself; call Sweep if the server is the
// handler of another http.Server.
func (s *Server) Sweep(ctx context.Context) { s.worker.Run(ctx) }

// WriteMetrics writes figures of the runs that the server drives and takes, in Prometheus'
// text format.
func (s *Server) WriteMetrics(to io.Writer) { s.worker.WriteMetrics(to) }

// errStopped is recorded as the reason of the pause.
var errStopped = errors.New("the server that drove it was stopped")

// ownHost is a host for a worker.
type ownHost struct{ Host }

// Again rebuilds the agent of a run to resume it.
func (h ownHost) Again(ctx context.Context, s *pawl.State) (worker.Work, error) {
	return h.Host.Again(ctx, s, nil)
}

// Names are the names of the host's agents.
func (h ownHost) Names(ctx context.Context) (names []string, err error) {
	agents, err := h.Agents(ctx)
	for _, a := range agents {
		for _, name := range append([]string{a.Name}, a.Team...) { // runs of its team are resumed with it
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, err
}

// desk is the engine to signal a run with: if the run is driven here, the engine that
// drives it, which then reads the signal at once.
func (s *Server) desk(ctx context.Context, run string) (*engine.Engine, error) {
	h, err := runs.RootOf(ctx, s.journal, run)
	if err != nil {
		return nil, err
	}
	if here := s.worker.Engine(h.Run); here != nil {
		return here, nil
	}
	state, err := engine.Load(ctx, s.journal, h.Run)
	return s.host.Desk(state), err
}
