package engine

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
)

// hooks returns the hooks of the run, in the order in which they are asked:
// those of all runs, those of its agent, and those of the runs above it. They
// are looked up once, when the first entry is folded.
func (s *session) hooks() []Hook {
	if s.watching == nil {
		var d pawl.Declaration
		if s.m != nil { // what the run goes on with, which may differ from what it began with
			d = s.m.Declaration()
		} else {
			d = s.state.Declaration()
		}
		s.watching = slices.Clip(s.engine.opt.Hooks) // all there are, should HooksOf panic
		s.above = s.engine.hooksOf(d, s.above, s.driven, ParentOf(s.state))
		s.watching = slices.Concat(s.engine.opt.Hooks, s.above)
		if s.watching == nil {
			s.watching = []Hook{}
		}
	}
	return s.watching
}

// hooksOf returns the hooks of an agent and those of the runs above its run. An
// agent's own hook takes the place of one of the same name above it. A run that
// is not driven by its parent reads in the journal who its parents are.
func (e *Engine) hooksOf(d pawl.Declaration, above []Hook, driven bool, parent string) []Hook {
	if e.opt.HooksOf == nil {
		return nil
	}
	if parent != "" && !driven {
		if at, err := e.childAt(context.Background(), parent); err == nil { // without its parent's log it has its own hooks
			above = e.hooksOf(at.state.Declaration(), nil, false, ParentOf(at.state))
		}
	}
	own := slices.Clip(e.agentHooks(d))
	for _, h := range above {
		if !slices.ContainsFunc(own, func(o Hook) bool { return nameOf(o) == nameOf(h) }) {
			own = append(own, h)
		}
	}
	return own
}

func (e *Engine) agentHooks(d pawl.Declaration) []Hook {
	defer blame.On("function", "HooksOf")
	return e.opt.HooksOf(d)
}
