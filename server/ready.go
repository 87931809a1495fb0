package server

import (
	"context"
	"net/http"
	"time"

	"github.com/pawl-run/pawl"
)

// readyTime is how long the journal may take to answer.
const readyTime = 2 * time.Second

// Ready returns nil if the server can take a run now. Otherwise the error says why not: the
// server is closing, or its journal fails or does not answer within two seconds.
func (s *Server) Ready(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return refusal(http.StatusServiceUnavailable, errClosing.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	answered := make(chan error, 1)
	go func() { // a journal that waits for a disk does not look at the context
		for _, err := range s.journal.List(ctx, pawl.Query{Max: 1}) {
			answered <- err
			return
		}
		answered <- nil
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	s.log.Warn("not ready", "error", err)
	return refusal(http.StatusServiceUnavailable, "the journal does not answer")
}

func (s *Server) ready(x *exchange) (any, error) {
	if err := s.Ready(x.Context()); err != nil {
		return nil, err
	}
	return s.health(x)
}
