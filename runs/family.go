package runs

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// IsChild reports whether a run is the child of another. A fork of one is not.
func IsChild(h pawl.Head) bool { return h.Parent != "" && strings.HasPrefix(h.Run, h.Parent+".") }

// Line gives the runs that lead to one, itself the last.
func Line(ctx context.Context, j pawl.Journal, run string) ([]*pawl.State, error) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	parent := engine.ParentOf(s)
	if parent == "" {
		return []*pawl.State{s}, nil
	}
	line, err := Line(ctx, j, parent)
	return append(line, s), err
}

// Root is the run that a run descends from, as far as there still is one; itself,
// if it is nobody's child. It folds no log.
func Root(ctx context.Context, j pawl.Journal, h pawl.Head) (pawl.Head, error) {
	for IsChild(h) {
		parent, err := Head(ctx, j, h.Parent)
		if errors.Is(err, pawl.ErrUnknownRun) {
			return h, nil
		}
		if err != nil {
			return h, err
		}
		h = parent
	}
	return h, nil
}

// Waiting are those of what a run and its children wait for that are of a kind:
// approval, input, client_tool or doubt.
func Waiting(pending []pawl.Pending, kind string) []pawl.Pending {
	var list []pawl.Pending
	for _, p := range pending {
		if p.Kind == kind {
			list = append(list, p)
		}
	}
	return list
}

// Meant are those that may be meant by a call's id said to a run: the run's own
// call, or else every call of that id of its children, that waits for that kind.
func Meant(pending []pawl.Pending, run, kind, call string) []pawl.Pending {
	var list []pawl.Pending
	for _, p := range Waiting(pending, kind) {
		if p.Call != call {
			continue
		}
		if p.Run == run {
			return []pawl.Pending{p}
		}
		list = append(list, p)
	}
	return list
}
