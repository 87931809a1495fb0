package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
)

// A sweep is one run of gc.
type sweep struct {
	older time.Duration        // negative: nothing is
	want  map[pawl.Status]bool // empty: every final status
	dry   bool

	before time.Time
}

// sweepLine is a removed run, as JSON.
type sweepLine struct {
	Run       string      `json:"run"`
	Agent     string      `json:"agent"`
	Status    pawl.Status `json:"status"`
	UpdatedAt time.Time   `json:"updated_at"`
	Removed   bool        `json:"removed"`
}

// sweepSum is the summary of a sweep, as JSON.
type sweepSum struct {
	Runs        int   `json:"runs"`
	Blobs       int   `json:"blobs"`
	Budgets     int   `json:"budgets"`     // accounts of periods that are over
	Permissions int   `json:"permissions"` // that are over
	Held        int   `json:"held"`        // runs that another process has resumed
	FileWas     int64 `json:"file_was"`    // bytes; zero: not known
	FileIs      int64 `json:"file_is"`     // bytes
	Compacts    bool  `json:"compacted"`   // free pages were returned to the file system

	busy bool // some run has an owner
}

func gcCommand(a *app) *cobra.Command {
	s := &sweep{older: 30 * 24 * time.Hour, want: map[pawl.Status]bool{}}
	c := a.command("gc [flags]", "Delete old runs with their messages, past accounts of budgets and unreferenced blobs", cobra.NoArgs,
		func(ctx context.Context, _ []string) (int, error) {
			return a.withRuns(ctx, func(j store) (int, error) { return 0, collect(ctx, a, j, s) })
		})
	c.Flags().Func("older-than", "only runs inactive for this `AGE`, as 30d or 12h (default: 30d)", ageIn(&s.older))
	c.Flags().Func("status", "only runs of these `STATUSES`, such as failed,paused (default: those that have ended, and past accounts of budgets)", s.only)
	c.Flags().BoolVar(&s.dry, "dry-run", false, "list what would be removed")
	return c
}

// only reads the statuses of the runs to remove.
func (s *sweep) only(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		var status pawl.Status
		if err := status.UnmarshalText([]byte(strings.TrimSpace(name))); err != nil {
			return err
		}
		if status == pawl.StatusRunning {
			return errors.New("gc does not remove running runs; cancel them first")
		}
		s.want[status] = true
	}
	return nil
}

// ageIn returns a function that reads the value of a flag, an age, into a variable.
func ageIn(to *time.Duration) func(string) error {
	return func(text string) (err error) {
		*to, err = parseAge(text)
		return err
	}
}

// parseAge parses a duration that may have days.
func parseAge(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	var age time.Duration
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "d"), 64)
	if err == nil && strings.HasSuffix(text, "d") && n < 36500 {
		age = time.Duration(n * float64(day))
	} else {
		age, err = time.ParseDuration(text)
	}
	if err != nil || age < 0 {
		return 0, fmt.Errorf("%q is not an age; write it as 30d, 12h or 0s", text)
	}
	return age, nil
}

// wants reports whether to remove a run, and under which status.
func (s *sweep) wants(ctx context.Context, j store, h pawl.Head) (pawl.Status, bool, error) {
	if h.Seq == 0 { // claimed but never begun; no command lists it
		return 0, len(s.want) == 0 && !h.Lease.Until.After(s.before), nil
	}
	if h.Updated.After(s.before) || runs.Owned(h.Lease) {
		return h.Status, false, nil
	}
	if len(s.want) == 0 {
		return h.Status, h.Status.Ended(), nil
	}
	status := h.Status
	if status == pawl.StatusRunning || status.Waiting() {
		var err error
		if status, err = runs.EffectiveStatus(ctx, j, h); err != nil {
			return 0, false, err
		}
	}
	return status, s.want[status], nil
}

// collect removes runs for the user at the terminal, and returns space to the file system.
func collect(ctx context.Context, a *app, j store, s *sweep) error {
	lines, sum, err := s.collect(ctx, j, a.sayf)
	_, wrong := tabulate(&a.console, "RUN\tAGENT\tSTATUS\tUPDATED", each(lines, nil), func(l sweepLine) string {
		return fmt.Sprintf("%s\t%s\t%v\t%s", l.Run, screen.OneLine(l.Agent), l.Status, when(l.UpdatedAt))
	})
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	if c, ok := j.(interface {
		Compact(ctx context.Context) (was, is int64, err error)
	}); ok && !s.dry && !sum.busy && sum.Held == 0 {
		if sum.FileWas, sum.FileIs, err = c.Compact(ctx); err != nil {
			return err
		}
		sum.Compacts = true
	}
	return a.sumUp(s, sum)
}

// collect removes runs and unreferenced blobs. The lines are of what it removed before any error.
func (s *sweep) collect(ctx context.Context, j store, sayf func(string, ...any)) (lines []sweepLine, sum sweepSum, err error) {
	r, ok := j.(pawl.Remover)
	if !ok {
		return nil, sum, misuse("this database cannot remove runs")
	}
	s.before = time.Now().Add(-s.older)
	all := map[string]pawl.Head{}
	var order []pawl.Head
	for h, err := range j.List(ctx, pawl.Query{}) {
		if err != nil {
			return nil, sum, err
		}
		all[h.Run] = h
		order = append(order, h)
		sum.busy = sum.busy || runs.Owned(h.Lease)
	}
	needed, err := needsOf(ctx, sayf, j, s, order, all)
	if err != nil {
		return nil, sum, err
	}
	for _, h := range order {
		status, wanted, err := s.wants(ctx, j, h)
		if err != nil || !wanted || needed[h.Run] {
			continue
		}
		if parent, there := all[h.Parent]; there && !parent.Status.Ended() { // a parent that continues needs its child
			continue
		}
		line := sweepLine{Run: h.Run, Agent: h.Agent, Status: status, UpdatedAt: h.Updated}
		if !s.dry {
			if line.Removed, err = s.remove(ctx, j, r, h); err != nil {
				return lines, sum, err
			}
			if !line.Removed {
				sum.Held++
				if err := needed.keep(ctx, j, h, all); err != nil {
					return lines, sum, err
				}
				continue
			}
		}
		if h.Seq > 0 {
			lines = append(lines, line)
			sum.Runs++
		}
	}
	if s.dry {
		return lines, sum, nil
	}
	if l, ok := j.(budget.Ledger); ok && len(s.want) == 0 { // an account has no status
		// Another machine's clock may be behind.
		if sum.Budgets, err = l.Prune(ctx, s.before.Add(-24*time.Hour)); err != nil {
			return lines, sum, err
		}
		if sum.Permissions, err = engine.PrunePermissions(ctx, j, s.before); err != nil {
			return lines, sum, err
		}
	}
	err = clearBlobs(ctx, j, r, &sum)
	return lines, sum, err
}

// needsOf are the runs that the remaining runs depend on: the runs whose conversations
// they continue, their parents, whose ids could otherwise be used again, and the
// children they are forks of.
func needsOf(ctx context.Context, sayf func(string, ...any), j store, s *sweep, order []pawl.Head, all map[string]pawl.Head) (needs, error) {
	n := needs{}
	for _, h := range order {
		_, wanted, err := s.wants(ctx, j, h)
		if err != nil {
			sayf("run %s stays: %v", h.Run, err)
		}
		if !wanted {
			if err := n.keep(ctx, j, h, all); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}

type needs map[string]bool

// keep also keeps everything that a remaining run depends on.
func (n needs) keep(ctx context.Context, j store, h pawl.Head, all map[string]pawl.Head) error {
	before, err := continued(ctx, j, h)
	if err != nil {
		return err
	}
	child := ""
	if h.Parent != "" && !runs.IsChild(h) { // a fork of a child inherits from that child
		if child, err = forkedFrom(ctx, j, h.Run); err != nil {
			return err
		}
	}
	for _, run := range []string{before, h.Parent, child} {
		if run == "" || n[run] {
			continue
		}
		n[run] = true
		if err := n.keep(ctx, j, all[run], all); err != nil {
			return err
		}
	}
	return nil
}

// continued returns the run that a run continues, if any.
func continued(ctx context.Context, j store, h pawl.Head) (string, error) {
	if h.Thread == "" || h.Seq == 0 {
		return "", nil
	}
	start, err := runs.Begun(ctx, j, h.Run)
	switch {
	case errors.Is(err, pawl.ErrUnknownRun):
		return "", nil
	case start.Continues == nil:
		return "", err
	}
	return start.Continues.Run, err
}

// followed reports whether another run continues this one, or is about to.
func followed(ctx context.Context, j store, h pawl.Head) (bool, error) {
	if h.Thread == "" {
		return false, nil
	}
	next, err := runs.Head(ctx, j, engine.ThreadRun(h.Thread, h.Run))
	if errors.Is(err, pawl.ErrUnknownRun) {
		return false, nil
	}
	return err != nil || next.Seq > 0 || runs.Owned(next.Lease), err
}

// remove claims a run without an owner, and removes it if it has not continued since
// h was read. It fails if another process resumes the run at the same moment.
func (s *sweep) remove(ctx context.Context, j store, r pawl.Remover, h pawl.Head) (removed bool, err error) {
	c := pawl.Claim{Run: h.Run, Owner: engine.Self().String(), TTL: time.Minute}
	if engine.ParseOwner(h.Lease.Owner).Gone() {
		c.Over = h.Lease.Epoch
	}
	lease, err := j.Claim(ctx, c)
	if errors.As(err, new(*pawl.HeldError)) || errors.Is(err, pawl.ErrUnknownRun) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now, err := runs.Head(ctx, j, h.Run)
	var goesOn bool
	if err == nil {
		goesOn, err = followed(ctx, j, h)
	}
	if err == nil && !goesOn && now.Seq == h.Seq && lease.Epoch == h.Lease.Epoch+1 {
		err = r.Remove(ctx, h.Run, lease.Epoch)
		if err == nil || errors.Is(err, pawl.ErrUnknownRun) || errors.Is(err, pawl.ErrFenced) {
			return err == nil, nil
		}
	}
	_, _ = j.Claim(context.WithoutCancel(ctx), pawl.Claim{Run: h.Run, Owner: lease.Owner, Epoch: lease.Epoch}) // otherwise the claim expires
	return false, err
}

// clearBlobs removes the blobs that no log refers to. A blob is stored before the
// entry that refers to it, always less than a day before.
func clearBlobs(ctx context.Context, j store, r pawl.Remover, sum *sweepSum) error {
	var used map[string]bool
	var broken error
	var err error
	sum.Blobs, err = r.RemoveBlobs(ctx, time.Now().Add(-24*time.Hour), func(digest string) bool {
		if used == nil && broken == nil {
			used, broken = references(ctx, j)
		}
		return broken != nil || used[digest] // keep a blob if in doubt
	})
	return errors.Join(broken, err)
}

var blobMember = regexp.MustCompile(`"blob":"([^"]*)"`)

// references returns the digests of the blobs that logs refer to. It searches the
// text, so that entries this build cannot decode keep their blobs, too.
func references(ctx context.Context, j store) (map[string]bool, error) {
	used := map[string]bool{}
	for h, err := range j.List(ctx, pawl.Query{}) {
		if err != nil {
			return nil, err
		}
		for row, err := range j.Read(ctx, h.Run, 1) {
			if errors.Is(err, pawl.ErrUnknownRun) {
				break // removed meanwhile
			}
			if err != nil {
				return nil, err
			}
			for _, m := range blobMember.FindAllSubmatch(row.Data, -1) {
				used[string(m[1])] = true
			}
		}
	}
	return used, nil
}

func (con *console) sumUp(s *sweep, sum sweepSum) error {
	if con.json {
		return printJSON(con.out, sum)
	}
	would := ""
	if s.dry {
		would = "would be "
	}
	con.sayf("%s %sremoved", display.Count(sum.Runs, "run"), would)
	say := func(n int, noun, what string) {
		if n > 0 {
			con.sayf("%s %s", display.Count(n, noun), what)
		}
	}
	say(sum.Budgets, "account", "of budgets removed whose periods are over")
	say(sum.Permissions, "permission", "removed that are over")
	say(sum.Blobs, "blob", "removed that no run refers to")
	say(sum.Held, "run", "kept, resumed meanwhile")
	switch {
	case sum.FileWas > sum.FileIs:
		con.sayf("the database has shrunk to %s from %s", room(sum.FileIs), room(sum.FileWas))
	case !s.dry && !sum.Compacts && sum.Runs > 0:
		con.sayf("new runs will use the freed space; run gc while no run is active to return it to the file system")
	}
	return nil
}

// room formats a number of bytes.
func room(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n >= 1000_000_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// scheduled makes the sweep of a server or worker, by its flag.
func scheduled(f *pflag.FlagSet) *sweep {
	s := &sweep{older: -1}
	f.Func("gc", "delete runs that ended this `AGE` ago, as 90d or 12h: at the start and then every hour (default: keep all)", ageIn(&s.older))
	return s
}

// every is how often a server looks for runs to delete.
const every = time.Hour

// schedule deletes old runs until quit. Several servers may do so in one journal: a run is
// claimed before it is removed.
func (s *sweep) schedule(ctx context.Context, j store, log *slog.Logger) (quit func()) {
	if s.older < 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.once(ctx, j, log)
			select {
			case <-time.After(every - rand.N(every/4)): //nolint:gosec // keeps servers apart, protects nothing
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// once deletes what is old by now.
func (s *sweep) once(ctx context.Context, j store, log *slog.Logger) {
	_, sum, err := s.collect(ctx, j, func(string, ...any) {}) // what cannot be judged stays
	if sum.Runs > 0 {
		log.Info("old runs deleted", "runs", sum.Runs)
	}
	if err != nil && ctx.Err() == nil {
		log.Error("old runs cannot be deleted; it is tried again within the hour", "error", err)
	}
}
