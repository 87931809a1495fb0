package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/telemetry"
)

// listen opens the listener of the service.
func (s *service) listen(ctx context.Context) (net.Listener, error) {
	if s.socket != "" {
		return listenSocket(ctx, s.socket)
	}
	return listenTCP(ctx, "--addr", s.address)
}

// listenTCP listens at the address that a flag has.
func listenTCP(ctx context.Context, flag, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s %s: another program listens there; end it, or choose another port (0 takes a free one)", flag, addr)
	}
	return l, refused(err)
}

// place is where people type commands about the runs: with --server.
func (s *service) place(l net.Listener) explain.Place {
	at := "http://" + l.Addr().String()
	if s.socket != "" {
		path, _ := filepath.Abs(s.socket)
		at = "unix://" + cmp.Or(path, s.socket)
	}
	return explain.Place{Flags: []string{"--server", cmp.Or(s.public, at)}, Server: true, Held: heldBy}
}

// socket is a listener that removes its Unix socket when closed.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return errors.Join(err, os.Remove(s.path))
}

// listenSocket listens at a socket that only this user can ever open: it creates the
// socket in a private directory, and moves it into place once its mode is set. It
// replaces the socket of a dead process.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, refused(err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, misuse("--socket %s exists and is not a socket; name an unused path", path)
	default:
		if c, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, misuse("--socket %s: a server already listens there", path)
		}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".pawl-")
	if err != nil {
		return nil, refused(err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", made)
	if err != nil {
		return nil, refused(err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // the socket is moved after creation
	}
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(refused(err), l.Close())
	}
	return &socket{l, path}, nil
}

// probes serves Prometheus and the probes of an orchestrator at an address of their own:
// /metrics, /healthz, and /readyz, which says whether it is ready. They ask by the address
// of a process and have no token, which the API does not accept. Empty: nothing is served.
// Call quit at the end.
func (a *app) probes(ctx context.Context, addr string, of probed) (quit func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, misuse("--metrics is %q; write an address with a port, such as 127.0.0.1:9090 or :9090", addr)
	}
	l, err := listenTCP(ctx, "--metrics", addr)
	if err != nil {
		return nil, err
	}
	web := &http.Server{Handler: probing(a.scraped(), of), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = web.Serve(l) }()
	a.sayf("metrics and probes at http://%s", l.Addr())
	return func() { _ = web.Close() }, nil
}

// A probed is a server or a worker.
type probed interface {
	Ready(ctx context.Context) error
	WriteMetrics(to io.Writer)
}

func probing(metrics http.Handler, of probed) http.Handler {
	mux := http.NewServeMux()
	if metrics != nil {
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
			metrics.ServeHTTP(w, r)
			of.WriteMetrics(w)
		})
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := of.Ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}

// watchBacklog shows in the metrics what waits in a journal.
func (a *app) watchBacklog(ctx context.Context, j store, h workHost) {
	if to := a.reporting(true); to != nil && to.Telemetry != nil {
		names, _ := h.Names(ctx) // never fails
		b := newBacklog(j, names)
		to.Telemetry.WatchBacklog(b.look)
	}
}

// A backlog counts the runs of a journal that wait for somebody.
type backlog struct {
	journal store

	mu    sync.Mutex
	at    time.Time // of the last count
	found map[string]telemetry.Backlog
}

// newBacklog counts the runs of a journal. The agents that this process drives are reported
// from the beginning, so that an autoscaler has something to go by before the first run.
func newBacklog(j store, agents []string) *backlog {
	b := &backlog{journal: j, found: map[string]telemetry.Backlog{}}
	for _, agent := range agents {
		b.found[agent] = telemetry.Backlog{}
	}
	return b
}

// fresh is how long a count is good for: several readers of the metrics cost one.
const fresh = 5 * time.Second

// look counts, unless it did so just before. An agent that was reported is reported until the
// process ends, so that its metrics go down to zero.
func (b *backlog) look(ctx context.Context) (map[string]telemetry.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.at) < fresh {
		return b.found, nil
	}
	found := map[string]telemetry.Backlog{}
	for agent := range b.found {
		found[agent] = telemetry.Backlog{}
	}
	for _, status := range []pawl.Status{pawl.StatusQueued, pawl.StatusRunning, pawl.StatusWaitingDoubt} {
		for h, err := range b.journal.List(ctx, pawl.Query{Status: status}) {
			if err != nil {
				return nil, err
			}
			of := found[h.Agent]
			switch {
			case status == pawl.StatusQueued:
				of.Queued++
				of.Oldest = max(of.Oldest, now.Sub(h.Updated))
			case status == pawl.StatusWaitingDoubt:
				of.InDoubt++
			case !runs.IsChild(h) && !runs.Owned(h.Lease):
				of.Unowned++
			}
			found[h.Agent] = of
		}
	}
	b.at, b.found = now, found
	return found, nil
}
