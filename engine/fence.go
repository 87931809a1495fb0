package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// fence keeps calls from starting late that the run's previous owner announced and another
// process was to start; see [pawl.ToolStarted.Supervised]. It runs before these calls are
// resolved or decided about. A call that has started is left to its tool, which can wait
// for it.
func fence(ctx context.Context, r *recorder) error {
	for c := range r.state.Open() {
		if c.Phase != pawl.PhaseStarted && c.Phase != pawl.PhaseLost && c.Phase != pawl.PhaseInDoubt {
			continue
		}
		if dir, _, here := recorded(&c); here {
			if _, err := dir.Fence(attempt(r.lease.Run, &c)); err != nil {
				return fmt.Errorf("run %s: call %s cannot be kept from starting late: %w", r.lease.Run, c.ID, err)
			}
			continue
		}
		if c.Effect != pawl.Write {
			continue // such calls may run twice
		}
		if err := outlast(ctx, r, &c); err != nil {
			return err
		}
	}
	return nil
}

// outlast waits until a call that another host may start cannot start any more.
func outlast(ctx context.Context, r *recorder, c *pawl.CallState) error {
	p, ok := spool.ParsePromise(c.Supervised)
	for ok {
		left := p.Open(process.Boot(), time.Now())
		if left <= 0 {
			break
		}
		if err := r.engine.pause(ctx, min(left, r.engine.opt.Lease/3)); err != nil {
			return err
		}
		if err := r.lease.renew(ctx); err != nil {
			return fmt.Errorf("run %s: %w", r.lease.Run, err)
		}
	}
	return nil
}

// recorded returns where the latest attempt at a call is recorded, whether the absence of a
// record there proves that it was not started, and whether that place is on this machine.
func recorded(c *pawl.CallState) (dir spool.Dir, proof, here bool) {
	p, ok := spool.ParsePromise(c.Supervised)
	if dir = spool.At(p.Path); !ok || p.Path == "" || !p.About(dir, process.Boot()) {
		return dir, false, false
	}
	return dir, p.Holds(dir), true
}

func attempt(run string, c *pawl.CallState) spool.Attempt {
	return spool.Attempt{Run: run, Call: c.ID, Key: c.Key, Number: c.Attempt}
}

// checkResolution fences a call with an unknown outcome before a resolution is accepted. It
// fails if the record of its supervisor contradicts the resolution.
func checkResolution(run string, c *pawl.CallState, happened bool) error {
	dir, proof, here := recorded(c)
	if !here {
		return nil
	}
	fate, err := dir.Fence(attempt(run, c))
	if err != nil {
		return fmt.Errorf("call %s of run %s cannot be kept from starting late: %w", c.ID, run, err)
	}
	known := ""
	switch exit := fate.Exit; {
	case fate.Never != nil && proof, exit != nil && exit.Refused != nil && exit.Cut != 0:
		if happened {
			known = "was never started"
		}
	case exit != nil && exit.Cut != spool.Stopped:
		known = "has ended"
	case exit == nil && fate.Begin != nil:
		if id, err := process.ParseIdentity(fate.Begin.Supervisor); err == nil && id.Alive() {
			known = "still runs"
		}
	}
	if known == "" {
		return nil
	}
	return fmt.Errorf("the command of call %s of run %s %s, as its supervisor has recorded; resume the run, which takes the outcome from there", c.ID, run, known)
}
