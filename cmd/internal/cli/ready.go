package cli

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/spec"
)

// An unreadyError says that an agent cannot run here because keys of its models are
// missing.
type unreadyError struct{ problems spec.Problems }

func (e *unreadyError) Error() string { return e.problems.Error() }
func (e *unreadyError) Unwrap() error { return e.problems }

// ready refuses a spec whose models cannot be called, before a run is recorded that would fail.
func ready(s *spec.Spec, r *spec.Registry) error {
	if missing := s.Unready(r); len(missing) > 0 {
		return &unreadyError{flagged(missing)}
	}
	return nil
}

// readyModel is ready for a model that no spec names, and that could be made or not.
func readyModel(m pawl.Model, err error) (pawl.Model, error) {
	if keyed, ok := m.(spec.Readiness); ok && err == nil {
		if err := keyed.Ready(); err != nil {
			return nil, misuse("%s: %w", modelSetting, err)
		}
	}
	return m, err
}

// unready is the error for a client of the server, which cannot set keys.
func unready(agent string, missing spec.Problems) error {
	said := make([]string, len(missing))
	for i, p := range missing {
		said[i] = p.Message
	}
	return problem(http.StatusUnprocessableEntity, fmt.Sprintf("agent %s cannot run on this server: %s in the server's environment", agent, strings.Join(said, "; ")))
}
