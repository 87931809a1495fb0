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

// Serve answers what comes in by a listener until ctx ends, and wakes runs whose
// time has come meanwhile, as [Server.Wake] does; then it parks the runs that it
// drives, lets the answers under way come to an end, and returns nil.
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
	waking := make(chan struct{})
	go func() {
		defer close(waking)
		s.Wake(ctx)
	}()
	defer func() { <-waking }() // the server is closed by then
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
