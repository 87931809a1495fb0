package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// probes serves Prometheus and the probes of an orchestrator at an address of their own:
// /metrics, /healthz, and /readyz, which says what ready returns. They ask by the address
// of a process and have no token, which the API does not accept. Empty: nothing is served.
// Call quit at the end.
func (a *app) probes(ctx context.Context, addr string, ready func(context.Context) error) (quit func(), err error) {
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
	web := &http.Server{Handler: probing(a.scraped(), ready), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = web.Serve(l) }()
	a.sayf("metrics and probes at http://%s", l.Addr())
	return func() { _ = web.Close() }, nil
}

func probing(metrics http.Handler, ready func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}
