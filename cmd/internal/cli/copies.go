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
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/workspace"
)

// The working copies of fixes that have not succeeded are kept for going on
// with them: each for a week after its run's last entry, and then as long as it
// is among the latest few.
const (
	copyKept   = 7 * 24 * time.Hour
	mostCopies = 10
	copyMade   = 6 * time.Hour // what is not whole by then never will be
)

// copyOwner is a run that may go on in a working copy. A fork shares the copy
// of the run that it comes from, so there can be several.
type copyOwner struct {
	Run      string `json:"run"`
	Database string `json:"database"`
}

// ownersFile stands in the copy's state directory.
func ownersFile(state string) string { return filepath.Join(state, "runs.json") }

// claimCopy notes that a run works in a copy. A copy of which this cannot be
// noted is kept as long as one whose run began when it was made.
func (a *app) claimCopy(state, run string) {
	db, err := a.databaseName()
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

// prune removes the working copies in a directory whose runs are gone from
// their journals, and of those that nobody has gone on with for a week all but
// the latest few. A copy that was cut short while it was made goes too. What
// cannot be judged stays.
func (a *app) prune(ctx context.Context, j store, dir string, now time.Time) {
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

func (a *app) removeCopy(state string) {
	if err := workspace.Remove(state); err != nil && !a.quiet {
		a.sayf("an old working copy stays: %v", err)
	}
}

// lastUsed is when any of a copy's runs has last gone on; gone: all of them,
// and there were some, are known to be no more.
func (a *app) lastUsed(ctx context.Context, j store, s workspace.State) (at time.Time, gone bool) {
	owners, err := readOwners(s.Dir)
	if err != nil || len(owners) == 0 {
		return s.At, false
	}
	gone = true
	for _, o := range owners {
		h, err := a.headOf(ctx, j, o)
		switch {
		case errors.Is(err, pawl.ErrUnknownRun):
			continue
		case err != nil:
			h.Updated = s.At
		case h.Status == pawl.Running && desk.Owned(h.Lease):
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
func (a *app) headOf(ctx context.Context, j store, o copyOwner) (pawl.Head, error) {
	db, err := a.databaseName()
	if err != nil {
		return pawl.Head{}, err
	}
	if o.Database == db {
		return desk.Head(ctx, j, o.Run)
	}
	if onServer(o.Database) {
		return pawl.Head{}, fmt.Errorf("%s is not the database that is open, and who may open it is not known", o.Database)
	}
	if _, err := os.Stat(o.Database); errors.Is(err, fs.ErrNotExist) {
		return pawl.Head{}, pawl.ErrUnknownRun
	}
	other, err := sqlite.Open(ctx, o.Database, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return pawl.Head{}, err
	}
	h, err := desk.Head(ctx, other, o.Run)
	return h, errors.Join(err, other.Close())
}
