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

// IsMemory reports whether a run is a memory of another; see tool.Memory.
func IsMemory(h pawl.Head) bool { return h.Agent == engine.MemoryAgent && h.Loop == engine.MemoryAgent }

// Lineage returns the states of a run and of the runs that it descends from, outermost first
// and the run itself last.
func Lineage(ctx context.Context, j pawl.Journal, run string) ([]*pawl.State, error) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	parent := engine.ParentOf(s)
	if parent == "" {
		return []*pawl.State{s}, nil
	}
	line, err := Lineage(ctx, j, parent)
	return append(line, s), err
}

// Root returns the outermost run that a run descends from and that still exists: itself, if it
// is not a child. It folds no log.
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

// RootOf is [Root] for a run of which only the id is known.
func RootOf(ctx context.Context, j pawl.Journal, run string) (pawl.Head, error) {
	h, err := Head(ctx, j, run)
	if err != nil {
		return h, err
	}
	return Root(ctx, j, h)
}
