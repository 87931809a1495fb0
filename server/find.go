package server

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
)

// mostID exceeds the length of any run id: nested children have long ids.
const mostID = 1024

// find returns the run with the full id in a request. All handlers use it: a run that
// the key may not see does not exist for it.
func (s *Server) find(x *exchange) (pawl.Head, error) {
	run := x.PathValue("run")
	if run == "" || len(run) > mostID || !utf8.ValidString(run) || strings.ContainsFunc(run, unicode.IsControl) {
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	h, err := runs.Head(x.Context(), s.journal, run)
	if err != nil {
		return pawl.Head{}, err
	}
	visible, err := s.visible(x.Context(), x.key, h)
	if err != nil {
		return pawl.Head{}, err
	}
	if h.Seq == 0 || !visible { // a run that is claimed but not begun does not exist yet
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	return h, nil
}

// thread is the thread that a key means by a name: its own, or the one that a run which it may see
// began by handing over, whose name is that run's.
func (s *Server) thread(x *exchange, name string) (string, error) {
	own := x.key.own(name)
	if own == name {
		return name, nil
	}
	h, err := runs.Head(x.Context(), s.journal, name)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return own, nil
	}
	if err != nil {
		return "", err
	}
	if visible, err := s.visible(x.Context(), x.key, h); err != nil || !visible {
		return own, err
	}
	return name, nil
}

// visible reports whether a key may see a run. A child belongs to its root.
func (s *Server) visible(ctx context.Context, k *Key, h pawl.Head) (bool, error) {
	if k == nil || len(k.Labels) == 0 {
		return k != nil, nil
	}
	root, err := runs.Root(ctx, s.journal, h)
	if err != nil {
		return false, err
	}
	return k.sees(root), nil
}

// result is the current result of a run, without tokens.
func (s *Server) result(ctx context.Context, run string) (explain.Result, error) {
	h, err := runs.Head(ctx, s.journal, run)
	if err != nil {
		return explain.Result{}, err
	}
	r, err := runs.Report(ctx, s.journal, h, s.options.Place)
	return r.Result, err
}
