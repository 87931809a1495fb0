package server

import (
	"context"
	"errors"
	"net/http"

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
