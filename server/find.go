package server

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/explain"
)

// mostID is longer than any id of a run: children of children have long ones.
const mostID = 1024

// find is the run that a request names by its whole id. It is the one way to a
// run: one that the key may not know of is as unknown as one that there is not.
func (s *Server) find(x *exchange) (pawl.Head, error) {
	run := x.PathValue("run")
	if run == "" || len(run) > mostID || !utf8.ValidString(run) || strings.ContainsFunc(run, unicode.IsControl) {
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	h, err := desk.Head(x.Context(), s.journal, run)
	if err != nil {
		return pawl.Head{}, err
	}
	visible, err := s.visible(x.Context(), x.key, h)
	if err != nil {
		return pawl.Head{}, err
	}
	if h.Seq == 0 || !visible { // claimed and not begun, it is nothing yet
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	return h, nil
}

// visible reports whether a key may know of a run. A child is its root's.
func (s *Server) visible(ctx context.Context, k *Key, h pawl.Head) (bool, error) {
	if k == nil || len(k.Labels) == 0 {
		return k != nil, nil
	}
	root, err := desk.Root(ctx, s.journal, h)
	if err != nil {
		return false, err
	}
	return k.sees(root), nil
}

// result is what a run has come to as it stands now. Tokens are not in it.
func (s *Server) result(ctx context.Context, run string) (explain.Result, error) {
	h, err := desk.Head(ctx, s.journal, run)
	if err != nil {
		return explain.Result{}, err
	}
	r, err := desk.Report(ctx, s.journal, h, s.options.Place)
	return r.Result, err
}
