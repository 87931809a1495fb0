package engine

import (
	"fmt"
	"log/slog"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

// fence keeps calls from starting late that the run's previous owner announced and another
// process was to start; see [pawl.ToolStarted.Supervised]. It runs before these calls are
// resolved or decided about. A call that has started is left to its tool, which can wait
// for it.
func fence(r *recorder) error {
	for c := range r.state.Open() {
		if !unsettled(c.Phase) {
			continue
		}
		r.callDirs.add(c.Supervised)
		if _, _, err := settle(r.lease.Run, &c); err != nil {
			return fmt.Errorf("run %s: call %s cannot be kept from starting late: %w", r.lease.Run, c.ID, err)
		}
	}
	return nil
}

// unsettled reports whether nobody knows yet what a call of this phase did.
func unsettled(p pawl.Phase) bool {
	return p == pawl.PhaseStarted || p == pawl.PhaseLost || p == pawl.PhaseInDoubt
}

// settle keeps the latest attempt at a call from starting, and returns what is known of it; here
// is false if its file cannot be reached from this process.
func settle(run string, c *pawl.CallState) (fate process.Fate, here bool, err error) {
	dir, ok := process.ParseCallDir(c.Supervised)
	if !ok || !dir.Reachable() {
		return fate, false, nil
	}
	fate, err = dir.Settle(attempt(run, c))
	return fate, true, err
}

func attempt(run string, c *pawl.CallState) process.Attempt {
	return process.Attempt{Run: run, Call: c.ID, Key: c.Key, Number: c.Attempt}
}

// checkResolution fences a call with an unknown outcome before a resolution is accepted. It
// fails if the file of its wrapper contradicts the resolution.
func checkResolution(run string, c *pawl.CallState, happened bool) error {
	fate, here, err := settle(run, c)
	if err != nil {
		return fmt.Errorf("call %s of run %s cannot be kept from starting late: %w", c.ID, run, err)
	}
	known := ""
	switch o := fate.Outcome; {
	case !here:
	case fate.Never, o != nil && o.NotStarted():
		if happened {
			known = "was never started"
		}
	case o != nil && !o.Interrupted():
		known = "has ended"
	case fate.Running:
		known = "still runs"
	}
	if known == "" {
		return nil
	}
	return fmt.Errorf("the command of call %s of run %s %s, as its wrapper has recorded; resume the run, which takes the outcome from there", c.ID, run, known)
}

// callDirs are the directories that the log of a run names for its calls.
type callDirs map[string]process.CallDir // by path

// add adds the directory that text names, if it names one.
func (d *callDirs) add(text string) {
	dir, ok := process.ParseCallDir(text)
	if !ok {
		return
	}
	if *d == nil {
		*d = callDirs{}
	}
	(*d)[dir.Path] = dir
}

// forgetCalls removes the files of the run's calls, unless a call is not settled. The log must be
// durable.
func (r *recorder) forgetCalls() {
	for c := range r.state.Open() {
		if unsettled(c.Phase) {
			return
		}
	}
	for path, dir := range r.callDirs {
		if err := dir.Remove(); err != nil {
			r.log(slog.LevelWarn, "the files of the run's calls could not be removed", slog.String("directory", path), slog.String("error", err.Error()))
		}
	}
	r.callDirs = nil
}
