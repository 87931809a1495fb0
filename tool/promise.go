package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// Supervised promises that the next attempt is recorded before it starts, or
// never starts: it names the directory of the records, and the time. Empty: no
// such promise can be given. See [pawl.Reconciler].
func (c *command) Supervised() string {
	if !supervision.on() {
		return ""
	}
	now := time.Now() // before anything is recorded
	dir, _, err := supervision.place()
	if err != nil {
		return ""
	}
	id := imprint(dir)
	if id == "" {
		return ""
	}
	return id + " " + now.UTC().Format(time.RFC3339Nano)
}

// imprint tells a directory of records from every other, now: from another that
// took its name, from its copy, and from one on another host, in another container
// or before the machine was started last, whose records may have been lost or
// be out of reach. Empty: it cannot be told.
func imprint(dir spool.Dir) string {
	drawn, err := dir.Drawn()
	if err != nil {
		return ""
	}
	info, err := os.Stat(dir.Path())
	if err != nil {
		return ""
	}
	self, err := process.Self()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(drawn + "\n" + identity(info) + "\n" + self.Boot))
	return hex.EncodeToString(sum[:8])
}

// here reports whether a promise is about this directory.
func here(dir spool.Dir, promise string) bool {
	id, _, _ := strings.Cut(promise, " ")
	return id != "" && id == imprint(dir)
}

// proven reports whether the absence of a record, which was just seen, proves that
// an attempt was not started: it was promised that it would be recorded here,
// nothing was swept away since, and the call is the run's own. A fork has the calls
// of another run, whose record has another name.
func proven(dir spool.Dir, inv pawl.Invocation) bool {
	_, text, _ := strings.Cut(inv.Supervised, " ")
	promised, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !here(dir, inv.Supervised) || inv.Key != inv.Run+"/"+inv.Call {
		return false
	}
	since, err := dir.Since()
	return err == nil && !promised.Before(since)
}
