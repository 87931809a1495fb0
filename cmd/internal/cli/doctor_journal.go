package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// The bounds beyond which the doctor warns.
const (
	mostSkew        = 5 * time.Second
	mostTransaction = 10 * time.Minute
	leastFree       = 1 << 30
)

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

// postgres checks a database on a server, and opens it if its tables are current.
func (d *doctor) postgres(ctx context.Context, url string) store {
	h, err := postgres.Check(ctx, url, nil)
	switch {
	case outage.Is(err):
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
	switch {
	case h.Schema == 0:
		d.find("journal", well, "", "%s, PostgreSQL %s; it has no tables yet, and the first command makes them", at, h.Server)
	case h.Schema < h.Newest:
		d.find("journal", doubt, "back the database up, then start this build; builds that know only the older tables stop then", "%s, PostgreSQL %s; its tables have version %d, and this build brings them to %d", at, h.Server, h.Schema, h.Newest)
	default:
		d.find("journal", well, "", "%s, PostgreSQL %s, tables %d, a round trip of %v", at, h.Server, h.Schema, h.Trip.Round(10*time.Microsecond))
	}
	d.clock(h)
	if g, remedy := well, ""; h.Most > 0 {
		if h.Used*10 >= h.Most*9 {
			g, remedy = doubt, "raise max_connections, or lower pool_max_conns in the URLs of servers and workers"
		}
		d.find("connections", g, remedy, "%d of %d are used", h.Used, h.Most)
	}
	if h.Transactions > mostTransaction {
		d.find("transactions", doubt, "find it in pg_stat_activity and end it; dead rows cannot be removed meanwhile, and the tables grow", "a transaction has been open for %v", h.Transactions.Round(time.Minute))
	}
	if h.Unarchived {
		d.find("backup", doubt, "set archive_mode and archive_command, or use your provider's point-in-time recovery; see docs/operations.md", "the server archives no log, so a restore loses everything since the last dump")
	}
	if h.Schema != h.Newest || h.ReadOnly {
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
		if dir, err := d.writable(filepath.Dir(full)); err != nil {
			d.find("journal", ill, setRight, "%s cannot be made: %s: %v", full, dir, err)
		} else {
			d.find("journal", well, "", "%s does not exist yet, and the first run makes it", full)
		}
		return nil
	}
	if err != nil {
		d.find("journal", ill, setRight, "%v", err)
		return nil
	}
	d.private(full, info)
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err != nil {
		d.find("permissions", ill, "run as the owner of the file; commands that only read work as they are", "%v", err)
	} else {
		_ = f.Close()
	}
	switch free, network, known := disk(filepath.Dir(full)); {
	case !known:
	case network != "":
		d.find("disk", ill, "move it to a local disk, or use PostgreSQL", "%s is on %s, whose locks SQLite cannot trust", full, network)
	case free < leastFree:
		d.find("disk", doubt, "make room, or let pawl gc --older-than 30d remove old runs", "%s are free beside the database", room(int64(free)))
	default:
		d.find("disk", well, "", "%s are free beside the database", room(int64(free)))
	}
	j, err := opened(sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true}))
	if err != nil {
		d.find("journal", ill, setRight+"; docs/operations.md has what to do about a damaged one", "%v", err)
		return nil
	}
	d.find("journal", well, "", "%s, %s", full, room(info.Size()))
	return j
}

// private warns of a file that others can read: a log has what people and tools said.
func (d *doctor) private(path string, info fs.FileInfo) {
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		d.find("permissions", doubt, fmt.Sprintf("chmod 600 %s", path), "%s can be read by others (its mode is %03o)", path, mode)
		return
	}
	d.find("permissions", well, "", "%s can only be read by its owner", path)
}

// writable reports why no file can be made below a directory that need not exist yet, and
// the directory that decides it.
func (d *doctor) writable(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
			continue
		}
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
		if err != nil {
			return dir, err
		}
		f, err := os.CreateTemp(dir, ".pawl-doctor-")
		if err != nil {
			return dir, errors.Unwrap(err)
		}
		return dir, errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// late is how long a run may need a process before the doctor says so: a server would have
// resumed it twice by then.
const late = time.Minute

// runs checks the leases and looks for runs that nobody drives.
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
	driven, err := d.lost(ctx, j, now)
	if err != nil {
		return err
	}
	if err := d.overdue(ctx, j, now); err != nil {
		return err
	}
	doubts, err := grouped(ctx, j, pawl.Query{Status: pawl.StatusWaitingDoubt}, func(pawl.Head) bool { return true })
	if err != nil {
		return err
	}
	if doubts.n > 0 {
		d.find("runs", doubt, fmt.Sprintf("look up what happened, then %s, or %s", d.typed("pawl", "settle", doubts.first, "CALL", "--happened", "JSON"), d.typed("pawl", "settle", doubts.first, "CALL", "--did-not-happen")), "%s for a person to say what became of a write: %v", verb(doubts.n, "waits", "wait"), &doubts)
	}
	d.find("leases", well, "", "%s driven now", verb(driven, "is", "are"))
	return nil
}

// lost reports runs whose process is gone, and counts those that are driven.
func (d *doctor) lost(ctx context.Context, j store, now time.Time) (driven int, err error) {
	var gone, far group
	for h, err := range j.List(ctx, pawl.Query{Status: pawl.StatusRunning}) {
		switch {
		case err != nil:
			return 0, err
		case h.Lease.Until.Sub(now) > time.Hour:
			far.add(h)
		case h.Lease.Until.After(now):
			driven++
		case now.Sub(h.Updated) > late && now.Sub(h.Lease.Until) > late:
			gone.add(h)
		}
	}
	if gone.n > 0 {
		d.find("leases", doubt, fmt.Sprintf("start pawl serve or pawl worker with the specs of %s, or resume one: %s", gone.agents(), d.typed("pawl", "resume", gone.first)), "%s no process, and nobody resumes them: %v", verb(gone.n, "has", "have"), &gone)
	}
	if far.n > 0 {
		d.find("leases", doubt, "check the clock of the machine that has the database", "%s leased for more than an hour: %v", verb(far.n, "is", "are"), &far)
	}
	return driven, nil
}

// overdue reports paused runs whose time has come and passed, and runs that wait long for a worker.
func (d *doctor) overdue(ctx context.Context, j store, now time.Time) error {
	queued, err := grouped(ctx, j, pawl.Query{Status: pawl.StatusQueued}, func(h pawl.Head) bool { return now.Sub(h.Updated) > late })
	if err != nil {
		return err
	}
	if queued.n > 0 {
		d.find("queue", doubt, "start pawl worker with the specs of "+queued.agents()+", or more workers if all slots are busy", "%s longer than %v for a worker: %v", verb(queued.n, "waits", "wait"), late, &queued)
	}
	due, err := grouped(ctx, j, pawl.Query{Status: pawl.StatusPaused, Due: now.Add(-late)}, func(h pawl.Head) bool { return !h.WakeAt.IsZero() && now.Sub(h.WakeAt) > late })
	if err != nil {
		return err
	}
	if due.n > 0 {
		d.find("runs", doubt, "start pawl serve or pawl worker with the specs of "+due.agents(), "%s paused beyond the time when to resume: %v", verb(due.n, "is", "are"), &due)
	}
	return nil
}
