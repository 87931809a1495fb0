package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// Options are the optional parts of a server. The zero value is right for an untrusted server.
type Options struct {
	// Trusted treats the results of tools as instructions that the agent may follow, and
	// takes the effects of tools from their annotations: a read-only hint makes a Read, an
	// idempotent hint an Idempotent. Otherwise, and without a hint, a tool is a Write.
	Trusted bool
	// Allow names the tools to offer, by the server's names. Nil: all.
	Allow []string
	// Timeout is the deadline of one call; zero is 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of a result the model gets; zero is 16 KiB.
	MaxOutput int
	// MaxParallel is how many calls of one of the server's tools may run at once in one
	// run; zero: as many as the agent allows. A Write runs alone.
	MaxParallel int
	// Opening bounds the time for starting or reaching the server and listing its tools;
	// zero is 60 s.
	Opening time.Duration
	// Identity is part of the pins besides the definitions, so that the same tools of
	// another server are different tools. Empty: the command or the URL.
	Identity string
}

// A Server is a connection to an MCP server, kept up until it is closed. It is safe for
// concurrent use.
type Server struct {
	name      string
	transport Transport
	opt       Options
	tools     []pawl.Tool
	notes     []string
	cage      string // a description of the cage; empty: none

	own *session // of what is no call of a user

	mu    sync.Mutex
	users map[string]*session // by token; nil: the server is closed
	ended chan struct{}       // closed by Close
}

// serverName excludes double underscores, which separate the server's name from the tool's.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9]+([_-]?[a-zA-Z0-9]+)*$`)

// longestName leaves room for the name of a tool.
const longestName = 32

// Names returns an error if name is not valid for a server: it has 1 to 32 letters and
// digits, with single _ and - between them.
func Names(name string) error {
	if len(name) > longestName || !serverName.MatchString(name) {
		return fmt.Errorf("%q is not a valid name for an MCP server; use 1 to %d letters and digits, with single _ or - between them", name, longestName)
	}
	return nil
}

// Connect starts or reaches a server, lists its tools and pins them. ctx bounds only that:
// the connection lives until [Server.Close].
//
// It fails if the server cannot be reached, and if it lacks a tool that Allow names. A tool that
// cannot be offered is left out, for example because its definition is too large or another tool
// has its name here. See [Server.Notes].
func Connect(ctx context.Context, name string, t Transport, o *Options) (*Server, error) {
	s := &Server{name: name, transport: t, own: newSession(""), users: map[string]*session{}, ended: make(chan struct{})}
	if o != nil {
		s.opt = *o
	}
	if s.opt.Opening <= 0 {
		s.opt.Opening = time.Minute
	}
	var is string
	if is, s.cage = t.is(); s.opt.Identity == "" {
		s.opt.Identity = is
	}
	if err := errors.Join(Names(name), t.check()); err != nil {
		return nil, fmt.Errorf("mcp server %s: %w", name, err)
	}
	l, err := s.dial(ctx, "")
	if err != nil {
		return nil, err
	}
	s.own.now = l
	reads := s.reader(l)
	if s.tools, err = s.offer(l.all, reads != nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if reads != nil {
		s.tools = append(s.tools, reads)
	}
	return s, nil
}

// Name returns the name under which the server was connected.
func (s *Server) Name() string { return s.name }

// Tools returns the server's tools, in its order. They do not change while the server is connected.
func (s *Server) Tools() []pawl.Tool { return slices.Clone(s.tools) }

// Notes returns a line for each tool that was left out, and for each whose arguments are not
// checked as its schema says. Such a line names the server and the tool.
func (s *Server) Notes() []string { return slices.Clone(s.notes) }

// Close ends the connection and the program behind it. Pending calls fail. Close may be
// called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	users := s.users
	if s.users = nil; users != nil {
		close(s.ended)
	}
	s.mu.Unlock()
	for _, of := range users {
		of.end()
	}
	s.own.end()
	return nil
}

// offer makes tools of definitions. reads says that the server gets the tool that reads resources, too.
func (s *Server) offer(all []definition, reads bool) (tools []pawl.Tool, err error) {
	note := func(format string, args ...any) {
		s.notes = append(s.notes, visible(s.wrong(fmt.Errorf(format, args...)).Error()))
	}
	taken := map[string]string{}
	for _, d := range all {
		if s.opt.Allow != nil && !slices.Contains(s.opt.Allow, d.name) {
			continue
		}
		if d.wrong != nil {
			note("tool %.60q is left out: %w", d.name, d.wrong)
			continue
		}
		t := s.tool(d)
		if other, clash := taken[t.info.Name]; clash {
			note("tool %.60q is left out: its name here is %s, as that of %.60q", d.name, t.info.Name, other)
			continue
		}
		if d.loose != "" {
			note("tool %.60q is offered without the check %s", d.name, d.loose)
		}
		taken[t.info.Name] = d.name
		tools = append(tools, t)
	}
	var errs []error
	for _, name := range s.opt.Allow {
		if !slices.ContainsFunc(all, func(d definition) bool { return d.name == name }) && !(reads && name == resourceTool) {
			errs = append(errs, s.wrong(fmt.Errorf("it has no tool %q; it has %s", name, listed(all))))
		}
	}
	return tools, errors.Join(errs...)
}

// listed names some of the tools.
func listed(all []definition) string {
	const most = 12
	var names []string
	for _, d := range all[:min(len(all), most)] {
		names = append(names, fmt.Sprintf("%.60s", visible(d.name)))
	}
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > most:
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
