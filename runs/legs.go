package runs

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/team"
)

// Handed returns how a run continues the conversation of the run whose agent handed over to it;
// nil: no agent did.
func Handed(ctx context.Context, j pawl.Journal, run string) (*pawl.Continues, error) {
	start, err := Begun(ctx, j, run)
	if c := start.Continues; c != nil && c.By != "" {
		return c, err
	}
	return nil, err
}

// Begun is the first event of a run.
func Begun(ctx context.Context, j pawl.Journal, run string) (start pawl.RunStarted, err error) {
	for e, err := range engine.Entries(ctx, j, run, 1) {
		start, _ = e.Event.(pawl.RunStarted)
		return start, err
	}
	return start, nil
}

// NextLeg returns the run that a run has handed over to, and how that run continues the
// conversation; nil: it has not handed over.
func NextLeg(ctx context.Context, j pawl.Journal, h pawl.Head) (pawl.Head, *pawl.Continues, error) {
	if h.Status != pawl.StatusSuccess {
		return h, nil, nil
	}
	next, err := Head(ctx, j, engine.NextLeg(h.Thread, h.Run))
	if errors.Is(err, pawl.ErrUnknownRun) || err == nil && next.Seq == 0 {
		return h, nil, nil
	}
	if err != nil {
		return h, nil, err
	}
	from, err := Handed(ctx, j, next.Run) // nil for a person's next message
	return next, from, err
}

// Leg returns the run that has the conversation of a run now: the run itself, or the last one
// after its handoffs.
func Leg(ctx context.Context, j pawl.Journal, h pawl.Head) (pawl.Head, error) {
	for {
		next, from, err := NextLeg(ctx, j, h)
		if err != nil || from == nil {
			return h, err
		}
		h = next
	}
}

// Tell makes a request, such as sending a message, of the run that has the conversation of a
// run now (see [Leg]), and returns the head of that run. After a request to end a run that has
// no owner, that run has ended. If the run is over already, the error is a [*ConflictError].
func Tell(ctx context.Context, j pawl.Journal, h pawl.Head, request func(ctx context.Context, run string) error) (pawl.Head, error) {
	for {
		h, err := Leg(ctx, j, h)
		if err != nil {
			return h, err
		}
		err = request(ctx, h.Run)
		now, looking := Head(ctx, j, h.Run)
		if err == nil || looking != nil || !now.Status.Ended() {
			return now, errors.Join(err, looking)
		}
		if leg, looking := Leg(ctx, j, now); looking != nil || leg.Run == now.Run { // else it handed over before it read the request
			return now, errors.Join(conflict("%v", err), looking)
		}
	}
}

// conversation gives the legs of the conversation that a run is one of, in order, without those
// that were deleted; nil: no run handed over. The result names those after the run, too.
func conversation(ctx context.Context, j pawl.Journal, h pawl.Head, r *explain.Report) ([]explain.Leg, error) {
	_, hands := team.HandedIn(r.Result.Result)
	if len(r.Legs) == 0 && !hands {
		return nil, nil
	}
	var legs []explain.Leg
	add := func(h pawl.Head, from *pawl.Continues) {
		leg := explain.Leg{Run: h.Run, Agent: h.Agent, Status: h.Status, Iterations: h.Iterations}
		switch {
		case h.Run == r.Run:
			leg.Status = r.Status
		case h.Status == pawl.StatusRunning && !Owned(h.Lease):
			leg.Status = pawl.StatusInterrupted
		}
		if h.Priced {
			cost := pawl.Decimal(h.Cost)
			leg.CostUSD = &cost
		}
		if from != nil {
			leg.By, leg.Reason = from.By, redact.Text(from.Reason)
		}
		legs = append(legs, leg)
	}
	for i, run := range append(r.Legs[:max(0, len(r.Legs)-1):len(r.Legs)], h.Run) {
		at, err := h, error(nil)
		if run != h.Run {
			at, err = Head(ctx, j, run)
		}
		if errors.Is(err, pawl.ErrUnknownRun) {
			continue
		}
		var from *pawl.Continues
		if err == nil && i > 0 {
			from, err = Handed(ctx, j, run)
		}
		if err != nil {
			return nil, err
		}
		add(at, from)
	}
	for {
		next, from, err := NextLeg(ctx, j, h)
		if err != nil || from == nil {
			return legs, err
		}
		add(next, from)
		if r.Legs == nil {
			r.Legs = []string{h.Run}
		}
		r.Legs = append(r.Legs, next.Run)
		h = next
	}
}

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
