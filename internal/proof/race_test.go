//go:build linux || darwin

package proof_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// storm has many processes want the run at the same moment, and returns what
// they say.
func (c *cell) storm(t *testing.T, many int) (said []report) {
	t.Helper()
	var all []*worker
	for range many {
		w, err := spawn(c.dir, "resume", "")
		must(t, err)
		all = append(all, w)
	}
	for _, w := range all {
		select {
		case <-w.ready:
		case <-w.silent:
		case <-time.After(patience):
		}
	}
	for _, w := range all {
		if _, err := w.stdin.Write([]byte{'!'}); err != nil {
			t.Error(err)
		}
	}
	for _, w := range all {
		_, err := w.end(shot{}, patience)
		r, unclear := w.report()
		if err != nil || unclear != nil {
			t.Errorf("%v, %v", err, unclear)
		}
		said = append(said, r)
	}
	c.audit()
	return said
}

// TestManyResume has 20 processes, or 64 for the proof, resume one run that was killed
// in a Write, and resume it again when its doubt is settled and its call approved: the
// effects are those of the run that nobody disturbed.
func TestManyResume(t *testing.T) {
	many := 20
	switch {
	case whole:
		many = 64
	case testing.Short():
		many = 12
	}
	c := newCell(t)
	c.process("run", shot{stop: "after tool pay|1"})
	for _, want := range []pawl.Status{pawl.StatusWaitingDoubt, pawl.StatusWaitingApproval, pawl.StatusSuccess} {
		said := c.storm(t, many)
		i := slices.IndexFunc(said, func(r report) bool { return r.Result != nil && r.Result.Status == want })
		if i < 0 {
			t.Fatalf("nobody came to %v\n%s", want, c.log())
		}
		for _, r := range said {
			if r.Held == "" && (r.Result == nil || r.Result.Status != want) {
				t.Errorf("one came to %+v, another to %v", r, want)
			}
		}
		if want == pawl.StatusSuccess {
			c.compare(*said[i].Result)
		} else {
			c.help(said[i].Result.Pending)
		}
	}
	c.complain(t)
}

// lease is that of the processes that are stopped for longer than it.
const lease = 300 * time.Millisecond

// halt stops a process between two of its transactions. One that is stopped within
// a transaction, such as the renewal of its lease, locks the database until it goes on.
func halt(t *testing.T, p *os.Process, dir string) {
	t.Helper()
	for {
		must(t, p.Signal(syscall.SIGSTOP))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		j, err := sqlite.Open(ctx, filepath.Join(dir, "pawl.db"), nil)
		if err == nil {
			_, err = j.Claim(ctx, pawl.Claim{Run: "none", Owner: "test", TTL: time.Second})
		}
		cancel()
		free := errors.Is(err, pawl.ErrUnknownRun)
		if !free {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			must(t, p.Signal(syscall.SIGCONT))
		}
		if j != nil {
			_ = j.Close()
		}
		if free {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestZombie stops the owner before each kind of entry for longer than its
// lease, has another process take the run over and end it, and wakes the first
// one up: what it was about to write is refused, and it changes nothing. So does
// one that wakes up in a call that may be repeated.
func TestZombie(t *testing.T) { // Promises: N3.
	var list []site
	for i, points := range base().passed {
		for n, p := range points {
			again := slices.Contains(points[:n], p) || i > 0 && slices.Contains(base().passed[0], p)
			if !again && (strings.HasPrefix(p, "before append ") && p != "before append run.started" || p == "before tool look" || p == "before tool put") {
				list = append(list, site{i, p, 1})
			}
		}
	}
	if len(list) < 10 {
		t.Errorf("only %d points: %v", len(list), list)
	}
	alongside(t, sample(list, 1, 5), site.String, func(t *testing.T, s site) {
		c := newCell(t)
		c.env, c.waits = []string{envLease + "=" + lease.String()}, true
		for range s.process {
			r, _ := c.process("run", shot{})
			c.help(r.Result.Pending)
		}
		w, err := spawn(c.dir, "run", s.stop(), c.env...)
		must(t, err)
		defer func() { _ = w.cmd.Process.Kill() }()
		select {
		case <-w.at:
		case <-w.silent:
			if strings.Contains(s.point, "+") {
				t.Skip("this run appended these entries one by one")
			}
			t.Fatalf("it does not come %v\n%s", s, &w.err)
		}
		halt(t, w.cmd.Process, c.dir)
		c.killed++ // as good as
		res := c.play()
		c.compare(res)
		seen := len(c.seen.rows[runID])
		clear(c.seen.done) // it goes on with what it is in the middle of, and with the Reads beside it
		must(t, w.cmd.Process.Signal(syscall.SIGCONT))
		if _, err := w.stdin.Write([]byte{'!'}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.end(shot{}, patience); err == nil || !strings.Contains(w.err.String(), pawl.ErrFenced.Error()) {
			t.Errorf("the first owner ended with %v: %s", err, &w.out)
		}
		c.audit()
		c.compare(res)
		if now := len(c.seen.rows[runID]); now != seen {
			t.Errorf("the log went from %d to %d entries", seen, now)
		}
		c.complain(t)
	})
}
