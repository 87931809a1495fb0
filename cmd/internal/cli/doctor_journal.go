package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// mostSkew is how far clocks may be apart.
const mostSkew = 5 * time.Second

// setRight is what to do about a database that cannot be used.
const setRight = "set right what it says, or name another database with --database or PAWL_DATABASE"

// database checks the journal without changing it, and then its runs. An error is one of
// the command line.
func (d *doctor) database(ctx context.Context) error {
	url, err := d.databaseURL()
	if err != nil {
		return err
	}
	var j store
	if onServer(url) {
		j = d.postgres(ctx, url)
	} else {
		j = d.sqlite(ctx, url)
	}
	if j == nil {
		return nil
	}
	if err := d.runs(ctx, j); err != nil {
		d.find("runs", ill, setRight, "%v", err)
	}
	return j.Close()
}

// postgres checks a database on a server, and opens it if it has tables.
func (d *doctor) postgres(ctx context.Context, url string) store {
	h, err := postgres.Check(ctx, url, nil)
	switch {
	case retry.Temporary(err):
		d.find("journal", ill, "check the address, that the server runs and lets this user in, and PGPASSWORD or ~/.pgpass", "%v", err)
		return nil
	case err != nil:
		d.find("journal", ill, setRight, "%v", err)
		return nil
	}
	at, _ := d.databaseName()
	switch {
	case h.ReadOnly:
		d.find("journal", ill, "name the primary: add target_session_attrs=read-write and list all hosts in the URL", "%s refuses writes: it is a standby", at)
	case h.Missing != "":
		d.find("permissions", ill, "let an administrator GRANT it, or give the schema pawl to this user", "the user lacks the right to %s", h.Missing)
	}
	switch h.Schema {
	case 0:
		d.find("journal", well, "", "%s, PostgreSQL %s; it has no tables yet, and the first command makes them", at, h.Server)
	default:
		d.find("journal", well, "", "%s, PostgreSQL %s, tables %d, a round trip of %v", at, h.Server, h.Schema, h.Trip.Round(10*time.Microsecond))
	}
	d.clock(h)
	if h.Unarchived {
		d.find("backup", doubt, "set archive_mode and archive_command, or use your provider's point-in-time recovery; see docs/operations.md", "the server archives no log, so a restore loses everything since the last dump")
	}
	if h.Schema == 0 || h.ReadOnly {
		return nil
	}
	j, err := opened(postgres.Open(ctx, url, nil))
	if err != nil {
		d.find("journal", ill, setRight, "%v", err)
	}
	return j
}

// clock compares this machine's clock with the database's.
func (d *doctor) clock(h postgres.Health) {
	if off := h.Ahead.Abs() - h.Trip/2; off > mostSkew {
		where := map[bool]string{true: "ahead of", false: "behind"}[h.Ahead > 0]
		d.find("clock", ill, "synchronise both by NTP; leases go by the database's clock, but limits on time, expiries and triggers by this machine's", "this machine's clock is %v %s the database's", h.Ahead.Abs().Round(100*time.Millisecond), where)
	} else {
		d.find("clock", well, "", "within %v of the database's", max(h.Ahead.Abs(), h.Trip/2, time.Millisecond).Round(time.Millisecond))
	}
}

// sqlite checks a database in a file, and opens it for reading.
func (d *doctor) sqlite(ctx context.Context, path string) store {
	full := absolute(path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := writable(filepath.Dir(full)); err != nil {
			d.find("journal", ill, setRight, "%s cannot be made: %v", full, err)
			return nil
		}
		d.find("journal", well, "", "%s does not exist yet, and the first run makes it", full)
		return nil
	}
	if err != nil {
		d.find("journal", ill, setRight, "%v", err)
		return nil
	}
	// A log has what people and tools said.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		d.find("permissions", doubt, "chmod 600 "+full, "%s can be read by others (its mode is %03o)", full, mode)
	} else {
		d.find("permissions", well, "", "%s can only be read by its owner", full)
	}
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err != nil {
		d.find("permissions", ill, "run as the owner of the file; commands that only read work as they are", "%v", err)
	} else {
		_ = f.Close()
	}
	j, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if err == nil {
		if err = j.Check(ctx); err != nil {
			err = errors.Join(err, j.Close())
		}
	}
	if err != nil {
		d.find("journal", ill, setRight+"; docs/operations.md has what to do about a damaged one", "%v", err)
		return nil
	}
	d.find("journal", well, "", "%s, %s", full, room(info.Size()))
	return j
}

// writable reports why no file can be made in a directory, or else in the nearest above it that exists.
func writable(dir string) error {
	f, err := os.CreateTemp(existing(dir), ".pawl-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// existing is a directory, or else the nearest above it that exists.
func existing(dir string) string {
	for filepath.Dir(dir) != dir {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// late is how long a run may need a process before the doctor says so: a server would have
// resumed it twice by then.
const late = time.Minute

// A trouble is something that runs may have. All are warnings. In a remedy RUN stands for one of the
// runs, and AGENTS for their agents.
type trouble struct {
	check, what, remedy string

	among pawl.Query
	has   func(pawl.Head) bool
}

// troubles are what the doctor looks for.
func (d *doctor) troubles(now time.Time) []trouble {
	settle := func(how ...string) string {
		return d.typed(append([]string{"pawl", "settle", "RUN", "CALL"}, how...)...)
	}
	return []trouble{
		{
			"leases", "without a process, which nobody resumes",
			"start pawl serve or pawl worker with the specs of AGENTS, or resume one: " + d.typed("pawl", "resume", "RUN"),
			pawl.Query{Status: pawl.StatusRunning}, func(h pawl.Head) bool { return now.Sub(h.Updated) > late && now.Sub(h.Lease.Until) > late },
		},
		{
			"leases", "leased for more than an hour", "check the clock of the machine that has the database",
			pawl.Query{Status: pawl.StatusRunning}, func(h pawl.Head) bool { return h.Lease.Until.Sub(now) > time.Hour },
		},
		{
			"queue", fmt.Sprintf("waiting longer than %v for a worker", late),
			"start pawl worker with the specs of AGENTS, or more workers if all slots are busy",
			pawl.Query{Status: pawl.StatusQueued}, func(h pawl.Head) bool { return now.Sub(h.Updated) > late },
		},
		{
			"runs", "paused beyond the time when to resume", "start pawl serve or pawl worker with the specs of AGENTS",
			pawl.Query{Status: pawl.StatusPaused, Due: now.Add(-late)}, func(h pawl.Head) bool { return !h.WakeAt.IsZero() && now.Sub(h.WakeAt) > late },
		},
		{
			"runs", "waiting for a person to say what became of a write",
			fmt.Sprintf("look up what happened, then %s, or %s", settle("--happened", "JSON"), settle("--did-not-happen")),
			pawl.Query{Status: pawl.StatusWaitingDoubt}, func(pawl.Head) bool { return true },
		},
	}
}

// mostNames is how many agents of runs with a trouble are named.
const mostNames = 5

// runs checks the clock that wrote the latest run, and looks for runs in trouble.
func (d *doctor) runs(ctx context.Context, j store) error {
	now := time.Now()
	for h, err := range j.List(ctx, pawl.Query{Max: 1}) {
		if err != nil {
			return err
		}
		if ahead := h.Updated.Sub(now); ahead > mostSkew {
			d.find("clock", ill, "synchronise the clocks of all machines that use this database by NTP", "run %s was written %v in the future", h.Run, ahead.Round(time.Second))
		}
	}
	found := false
	for _, t := range d.troubles(now) {
		n, first, agents := 0, "", []string(nil)
		for h, err := range j.List(ctx, t.among) {
			if err != nil {
				return err
			}
			if !t.has(h) {
				continue
			}
			n, first = n+1, cmp.Or(first, h.Run)
			if len(agents) < mostNames && !slices.Contains(agents, h.Agent) {
				agents = append(agents, h.Agent)
			}
		}
		if n > 0 {
			found = true
			names := strings.Join(agents, ", ")
			d.find(t.check, doubt, strings.NewReplacer("RUN", first, "AGENTS", names).Replace(t.remedy), "%s %s, such as %s of %s", display.Count(n, "run"), t.what, first, names)
		}
	}
	if !found {
		d.find("runs", well, "", "none lacks a process, and no write is in doubt")
	}
	return nil
}
