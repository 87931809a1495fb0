package cli

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-run/pawl/workspace"
)

// Working copies of runs that have not succeeded are kept so that the runs can resume: each
// for a week after its run was last begun or resumed, and longer while it is among the latest few.
const (
	copyKept   = 7 * 24 * time.Hour
	mostCopies = 10
	copyMade   = 6 * time.Hour // a copy still incomplete after this time is abandoned
)

// runFile is in a copy's state directory and has the id of the run that works there.
func runFile(state string) string { return filepath.Join(state, "run") }

// claimCopy records that a run works in a copy from now on. If that fails, the copy is kept as
// long as one that was not used since it was made.
func claimCopy(state, run string) {
	now := time.Now()
	_ = os.WriteFile(runFile(state), []byte(run+"\n"), 0o600)
	_ = os.Chtimes(state, now, now)
}

// prune removes the working copies in a directory that were not used for a week, except for the
// latest few, and copies that were never completed.
func prune(con *console, dir string, now time.Time) {
	states, err := workspace.States(dir)
	if err != nil {
		return
	}
	slices.SortFunc(states, func(x, y workspace.State) int { return y.At.Compare(x.At) })
	kept := 0
	for _, s := range states {
		age := now.Sub(s.At)
		if age < copyMade || s.Whole && (age < copyKept || kept < mostCopies) {
			kept++
			continue
		}
		if err := workspace.Remove(s.Dir); err != nil && !con.quiet {
			con.sayf("cannot remove an old working copy: %v", err)
		}
	}
}
