package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits of connections. A client that needs longer for its headers than this,
// or for its body, is not one to wait for; streams have no limit.
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	mostHeader = 64 << 10
	partTime   = 5 * time.Second // for answers under way, when the server ends
)

// Serve answers the requests that a listener takes until ctx ends, and sweeps
// meanwhile, as [Server.Sweep] does. Then it parks the runs that it drives, finishes
// the answers under way, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		DisableGeneralOptionsHandler: true, // what is asked of nothing in particular is refused as everything else
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = s.Close() // who waits for a run is told that it is parked
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTime)
		defer cancel()
		if web.Shutdown(last) != nil {
			_ = web.Close()
		}
	})
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		s.Sweep(ctx)
	}()
	defer func() { <-swept }() // the server is closed by then
	err := web.Serve(l)
	if unhook() { // it did not end because of ctx
		return errors.Join(err, s.Close())
	}
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
