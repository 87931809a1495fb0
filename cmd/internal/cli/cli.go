// Package cli is the command line. A command is a function of its arguments,
// its environment and its three streams, so that tests run it without a process.
//
// Standard output carries the result and nothing else; progress and diagnostics go
// to standard error. Exit codes are values returned to main.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
)

// app is one invocation of the command.
type app struct {
	console
	environment

	reports *reports       // telemetry of the runs
	far     *client.Client // the server of --server; nil: a database has the runs
	answers *screen.Answer // shows what the model says; nil: the answer is printed at the end

	sources   sources
	described sync.Once // see endpoints
	own       map[string]spec.Endpoint

	code       int             // of the command that ran
	ends       []func() error  // close the connections to MCP servers
	servers    []mcpServer     // those
	deliveries []chan struct{} // each closed when the webhooks of a run are done

	mu       sync.Mutex
	journal  pawl.Journal // open, if any
	driven   string       // the run that is driven here, if any
	lines    typedLines   // typed input, once a question was asked
	showKeys func()       // has the terminal show what is typed again; nil: it does
	stop     func() bool  // takes an interrupt instead of the command; nil, or false: the command ends
}

// console is what a command reads, writes and shows.
type console struct {
	in    io.Reader
	out   io.Writer
	err   *screen.Writer
	json  bool
	quiet bool
	shown bool // questions show the calls that need approval, so progress does not

	told map[string]bool // changes to requests that were printed
	open []string        // what the goal lacked at the measure printed last
}

// environment is where a command finds the runs and the settings of its user.
type environment struct {
	environ  []string
	database string          // the value of --database
	server   string          // the value of --server
	program  *spec.Registry  // what the program adds to specs; nil: nothing
	dial     Dial            // connects to what --on names; nil: another program does
	args     []string        // of this invocation
	learned  *engine.Learned // tokens of MCP servers
}

// sources are what agents were made from, read. The runs of a server share a few.
type sources struct {
	mu    sync.Mutex
	known map[string]*spec.Spec
}

// mostSources is how many sources are kept. When there are more, all are read again.
const mostSources = 100

// read is [spec.ReadSource]. Nobody changes what it returns.
func (s *sources) read(source string) *spec.Spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[source] == nil {
		if s.known == nil || len(s.known) >= mostSources {
			s.known = map[string]*spec.Spec{}
		}
		s.known[source] = spec.ReadSource(source)
	}
	return s.known[source]
}

// Main runs one invocation and returns its exit code. The end of ctx, SIGINT and
// SIGTERM suspend the run; a second signal exits at once.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	return MainOf(ctx, nil, nil, args, stdin, stdout, stderr, environ)
}

// MainOf is Main of a program that has a registry or a way to dispatch runs of its own; nil:
// none.
func MainOf(ctx context.Context, program *spec.Registry, dial Dial, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	// A reader that closes the pipe must not end the run. Catch the signal rather than
	// ignoring it: child processes inherit ignored signals.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)

	a := &app{
		console:     console{in: stdin, out: resultWriter{screen.Shown(stdout)}, err: screen.NewWriter(stderr)},
		environment: environment{environ: environ, program: program, dial: dial, args: args, learned: &engine.Learned{}}, reports: &reports{},
	}
	code := make(chan int, 1)
	go func() { code <- a.execute(ctx, args) }()
	for ctx.Err() == nil {
		select {
		case c := <-code:
			return c
		case sig := <-signals:
			if sig == os.Interrupt && a.stopped() {
				continue
			}
			cancel(&interruption{sig})
		case <-ctx.Done():
		}
	}
	select {
	case c := <-code:
		return c
	case <-signals:
		a.leave()
		return exitPaused
	}
}

// stopped reports whether the command goes on after an interrupt.
func (a *app) stopped() bool {
	a.mu.Lock()
	stop := a.stop
	a.mu.Unlock()
	return stop != nil && stop()
}

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string { return fmt.Sprintf("stopped by a signal (%v)", i.signal) }

// leave kills what this process has started without waiting for it. The journal is
// closed first, so that what a tool prints while it is being killed is not recorded
// as its result. The runs then have no owner and can be resumed.
func (a *app) leave() {
	a.mu.Lock()
	j, run, show := a.journal, a.driven, a.showKeys
	a.journal = nil
	a.mu.Unlock()
	if show != nil {
		show()
	}
	a.err.SetStatus("")
	if run != "" {
		a.sayf("left run %s as it is; go on with: %s", run, a.typed("pawl", "resume", run))
	}
	a.err.Disable() // later errors are consequences of this
	if c, ok := j.(io.Closer); ok {
		_ = c.Close()
	}
	endChildren()
}

// sayf prints one line for the person at the terminal.
func (con *console) sayf(format string, args ...any) {
	fmt.Fprintln(con.err, screen.OneLine(fmt.Sprintf(format, args...)))
}
