package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/workspace"
)

// Working copies of fixes that have not succeeded are kept so that the fix can
// resume: each for a week after its run's last entry, and longer while it is among
// the latest few.
const (
	copyKept   = 7 * 24 * time.Hour
	mostCopies = 10
	copyMade   = 6 * time.Hour // a copy still incomplete after this time is abandoned
)

// copyOwner is a run that may resume in a working copy. A fork shares the copy of
// its parent, so a copy can have several owners.
type copyOwner struct {
	Run      string `json:"run"`
	Database string `json:"database"`
}

// ownersFile is in the copy's state directory.
func ownersFile(state string) string { return filepath.Join(state, "runs.json") }

// claimCopy records that a run works in a copy. If that fails, the copy is kept as
// long as one whose run began when the copy was made.
func (env *environment) claimCopy(state, run string) {
	db, err := env.databaseName()
	if err != nil {
		return
	}
	owners, err := readOwners(state)
	me := copyOwner{run, db}
	if err != nil || slices.Contains(owners, me) {
		return
	}
	text, err := json.Marshal(append(owners, me))
	if err != nil {
		return
	}
	temp := ownersFile(state) + ".new"
	if os.WriteFile(temp, text, 0o600) == nil {
		_ = os.Rename(temp, ownersFile(state))
	}
}

func readOwners(state string) (owners []copyOwner, err error) {
	text, err := os.ReadFile(ownersFile(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &owners)
	}
	return owners, err
}

// prune removes the working copies in a directory whose runs no longer exist, and
// all but the latest few of those that were not resumed for a week. It removes
// copies that were never completed, and keeps any copy it cannot judge.
func prune(ctx context.Context, a *app, j store, dir string, now time.Time) {
	states, err := workspace.States(dir)
	if err != nil {
		return
	}
	var old []workspace.State
	kept := 0
	for _, s := range states {
		at, gone := a.lastUsed(ctx, j, s)
		switch {
		case gone, !s.Whole && now.Sub(s.At) > copyMade:
			a.removeCopy(s.Dir)
		case now.Sub(at) < copyKept:
			kept++
		default:
			old = append(old, workspace.State{Dir: s.Dir, At: at})
		}
	}
	slices.SortFunc(old, func(x, y workspace.State) int { return y.At.Compare(x.At) })
	for _, s := range old[min(len(old), max(0, mostCopies-kept)):] {
		a.removeCopy(s.Dir)
	}
}

func (con *console) removeCopy(state string) {
	if err := workspace.Remove(state); err != nil && !con.quiet {
		con.sayf("cannot remove an old working copy: %v", err)
	}
}

// lastUsed returns when any of a copy's runs last continued; gone: the copy had runs,
// and none exists any more.
func (env *environment) lastUsed(ctx context.Context, j store, s workspace.State) (at time.Time, gone bool) {
	owners, err := readOwners(s.Dir)
	if err != nil || len(owners) == 0 {
		return s.At, false
	}
	gone = true
	for _, o := range owners {
		h, err := env.headOf(ctx, j, o)
		switch {
		case errors.Is(err, pawl.ErrUnknownRun):
			continue
		case err != nil:
			h.Updated = s.At
		case h.Status == pawl.StatusRunning && runs.Owned(h.Lease):
			h.Updated = time.Now()
		}
		gone = false
		if h.Updated.After(at) {
			at = h.Updated
		}
	}
	return at, gone
}

// headOf looks a run up in its own journal.
func (env *environment) headOf(ctx context.Context, j store, o copyOwner) (pawl.Head, error) {
	db, err := env.databaseName()
	if err != nil {
		return pawl.Head{}, err
	}
	if o.Database == db {
		return runs.Head(ctx, j, o.Run)
	}
	if onServer(o.Database) {
		return pawl.Head{}, fmt.Errorf("%s is not the open database, and its credentials are unknown", o.Database)
	}
	if _, err := os.Stat(o.Database); errors.Is(err, fs.ErrNotExist) {
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	other, err := sqlite.Open(ctx, o.Database, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return pawl.Head{}, err
	}
	h, err := runs.Head(ctx, other, o.Run)
	return h, errors.Join(err, other.Close())
}
