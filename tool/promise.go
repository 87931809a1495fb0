package tool

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// Supervised returns a promise that the next attempt is recorded before it starts, or never
// starts: the directory of the records, and the time. It returns "" if no such promise can be
// given. See [pawl.Reconciler].
func (c *command) Supervised() string {
	if !supervision.on() {
		return ""
	}
	now := time.Now() // before anything is recorded
	dir, _, err := supervision.place()
	if err != nil {
		return ""
	}
	p, err := dir.Promise(process.Boot(), now)
	if err != nil {
		return ""
	}
	return p.String()
}

// recordOf returns where an attempt is recorded, and whether the absence of a record there
// proves that the attempt was not started. Only a promise makes it a proof. An attempt without a
// promise is looked up where this process records.
func recordOf(inv pawl.Invocation) (dir spool.Dir, proof bool, err error) {
	p, promised := spool.ParsePromise(inv.Supervised)
	if dir = spool.At(p.Path); promised && p.About(dir, process.Boot()) {
		return dir, p.Holds(dir), nil
	}
	if !supervision.on() {
		return dir, false, errUnsupervised
	}
	dir, _, err = supervision.place()
	switch {
	case err != nil:
		return dir, false, err
	case !promised:
		return dir, false, nil
	case p.About(dir, process.Boot()): // it was moved
		return dir, p.Holds(dir), nil
	}
	return dir, false, fmt.Errorf("%w: there is no record of it in %s, and the log says that it would be recorded in another directory", errUnknown, dir.Path())
}
