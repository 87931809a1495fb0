package fakeprovider

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// Options are what a server may be told beside its brain. The zero value is a
// provider without a fault.
type Options struct {
	Faults   []Fault           // the nth request gets the nth; further ones, and the zero Fault: none
	FaultFor func(n int) Fault // in place of Faults, for the nth request, from 1; called by one goroutine at a time

	Chunk int    // the most bytes in one write, so that events and characters are cut anywhere; 0: a whole event
	Plays string // the model that it is, by the model sheet, whatever requests name; empty: the one they name, or the provider's default
	Seed  uint64 // what ids, signatures and the sizes of pieces follow from
}

// maxBytes is the largest request that is read, as at Anthropic.
const maxBytes = 32 << 20

// A Server answers like a provider. It is an [http.Handler], to be served by
// httptest or any other server, and may be used by many clients at once.
type Server struct {
	brain  pawl.Model
	o      Options
	memory *memory
	closed context.Context
	close  context.CancelFunc

	mu       sync.Mutex
	n        int
	requests []*Request
	stale    map[string]Fault // connections that will be found closed
}

// New makes a server that answers what a model says. o may be nil.
func New(brain pawl.Model, o *Options) *Server {
	o = cmp.Or(o, &Options{})
	s := &Server{brain: brain, o: *o, memory: newMemory(o.Seed), stale: map[string]Fault{}}
	s.closed, s.close = context.WithCancel(context.Background())
	return s
}

// Close ends every answer that still goes on, those that would never end among
// them. An [net/http/httptest.Server] waits for its answers, so close this one
// first. Requests that come later are answered and then cut off.
func (s *Server) Close() { s.close() }

// Requests is every request so far, in the order in which they came. What
// becomes of one that is still being answered is not yet in it.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Request, len(s.requests))
	for i, r := range s.requests {
		list[i] = *r
	}
	return list
}

// Problems is what was wrong with all requests so far, each with the number of
// its request, from 1: nothing, if the client keeps to the wires.
func (s *Server) Problems() []string {
	var list []string
	for i, r := range s.Requests() {
		for _, p := range r.Problems {
			list = append(list, fmt.Sprintf("request %d: %s", i+1, p))
		}
	}
	return list
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(s.closed, cancel)
	defer stop()
	in, fault := s.accept(r)
	var out *outcome
	if in == nil {
		out = &outcome{status: http.StatusNotFound, header: http.Header{"Content-Type": {"text/plain"}}, units: [][]byte{[]byte("404 page not found\n")}}
	} else {
		if out = s.answer(ctx, in, fault); out == nil {
			abort(w) // the client has gone, or the server is closed
		}
		in.Status, in.Struck, in.Decided = out.code(), out.struck, true
		s.publish(in)
		if out.stale {
			s.mu.Lock()
			s.stale[r.RemoteAddr] = fault
			s.mu.Unlock()
		}
	}
	out.send(ctx, w, &s.o)
}

// accept reads a request and decides on its fault. It is nil for a path that no
// provider has.
func (s *Server) accept(r *http.Request) (*inbound, Fault) {
	req := &Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), At: time.Now()}
	req.Body, _ = io.ReadAll(io.LimitReader(r.Body, maxBytes+1)) // a client that leaves now hears nothing anyway
	req.Wire, req.Model, req.Stream = route(r.URL.Path)
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := *req
	s.requests = append(s.requests, &seen)
	if req.Wire == 0 {
		seen.Status, seen.Decided = http.StatusNotFound, true
		return nil, Fault{}
	}
	s.n++
	fault, stale := s.stale[r.RemoteAddr]
	delete(s.stale, r.RemoteAddr)
	switch {
	case stale:
	case s.o.FaultFor != nil:
		fault = s.o.FaultFor(s.n)
	case s.n <= len(s.o.Faults):
		fault = s.o.Faults[s.n-1]
	}
	seen.Fault, req.Fault = fault, fault
	in := &inbound{
		Request: req, place: len(s.requests) - 1, n: s.n, memory: s.memory, dialect: dialectOf(req.Wire), stale: stale, plays: s.o.Plays,
		rand: rand.New(rand.NewPCG(s.o.Seed, uint64(s.n))),
	}
	in.Decoded.Purpose = pawl.PurposeTurn
	return in, fault
}

// publish shows the request as far as it is known.
func (s *Server) publish(in *inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := *in.Request
	seen.Problems = slices.Clone(seen.Problems)
	s.requests[in.place] = &seen
}

// check does what comes before a request is looked at, and then looks at it.
func (s *Server) check(in *inbound) {
	switch {
	case in.Method != http.MethodPost:
		in.complain(&refusal{class: pawl.ClassInvalid, status: http.StatusMethodNotAllowed, message: "Method Not Allowed"})
		return
	case len(in.Body) > maxBytes:
		in.complain(tooLarge(in.Wire))
		return
	}
	in.dialect.read(in)
}

func tooLarge(w Wire) *refusal {
	r := &refusal{class: pawl.ClassInvalid, status: http.StatusRequestEntityTooLarge, message: "Request exceeds the maximum size"}
	switch w {
	case Anthropic:
		r.kind = "request_too_large"
	case Google:
		r.message = "Request payload size exceeds the limit: 20971520 bytes."
	}
	return r
}

func noModel(in *inbound) *refusal {
	r := &refusal{class: pawl.ClassNotFound, message: "The model `" + in.Model + "` does not exist or you do not have access to it."}
	switch in.Wire {
	case Anthropic:
		r.message = "model: " + in.Model
	case Google:
		r.message = "models/" + in.Model + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
	}
	return r
}
