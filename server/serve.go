package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-run/pawl/runs/worker"
)

// Ready returns nil if the server can take a run now. Otherwise the error says why not: the
// server is closing, or its journal fails or does not answer within two seconds.
func (s *Server) Ready(ctx context.Context) error {
	err := s.worker.Ready(ctx)
	if err != nil && !errors.Is(err, worker.ErrClosed) {
		err = refusal(http.StatusServiceUnavailable, err.Error())
	}
	return ProblemOf(err)
}

func (s *Server) ready(x *exchange) (any, error) {
	if err := s.Ready(x.Context()); err != nil {
		return nil, err
	}
	return s.health(x)
}

// The limits of connections. Slower clients are disconnected; streams have no limit.
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	mostHeader = 64 << 10
	partTime   = 5 * time.Second // for answers in progress when the server stops
)

// Serve serves the requests of a listener until ctx ends, and sweeps meanwhile, as
// [Server.Sweep] does. Then it suspends the runs that it drives, finishes the answers in
// progress, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		DisableGeneralOptionsHandler: true, // treat OPTIONS * like any unknown path
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = s.Close() // clients that wait for a run get its suspended state
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTime)
		defer cancel()
		if web.Shutdown(last) != nil {
			_ = web.Close()
		}
	})
	serving, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { s.Trigger(serving) })
	all.Go(func() { s.Sweep(serving) })
	defer func() {
		stop()
		all.Wait()
	}()
	err := web.Serve(l)
	if unhook() { // it ended for a reason other than ctx
		return errors.Join(err, s.Close())
	}
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
