package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

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
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, refused(err)
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
