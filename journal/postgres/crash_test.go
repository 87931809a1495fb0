//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-run/pawl/journal/postgres"
)

// writers append to some runs of a journal until stop, which checks what they leave.
type writers struct {
	j     *postgres.Journal
	acked [4]atomic.Uint64
	errs  [4]error
	all   sync.WaitGroup
	end   context.CancelFunc
}

func write(t *testing.T, j *postgres.Journal) *writers {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	w := &writers{j: j, end: end}
	for i := range w.acked {
		w.all.Go(func() {
			w.errs[i] = appending(ctx, j, fmt.Sprint("run-", i), "writer", w.acked[i].Store)
		})
	}
	t.Cleanup(w.all.Wait)
	t.Cleanup(end)
	return w
}

// further waits until every run has got something in since.
func (w *writers) further(t *testing.T) {
	t.Helper()
	for i := range w.acked {
		from := w.acked[i].Load()
		until(t, "the writers go on", func() bool { return w.acked[i].Load() > from })
	}
}

func (w *writers) stop(t *testing.T) {
	t.Helper()
	w.end()
	w.all.Wait()
	if err := errors.Join(w.errs[:]...); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i := range w.acked {
		run := fmt.Sprint("run-", i)
		end := whole(t, w.j, run)
		if acked := w.acked[i].Load(); end != acked {
			t.Errorf("%s ends at %d, but %d was acknowledged last", run, end, acked)
		}
		if head := headOf(t, w.j, run); head != end {
			t.Errorf("the head of %s says %d, its log ends at %d", run, head, end)
		}
	}
}

// TestServerKilled kills the server in the middle of appends and starts it
// again. Nothing acknowledged is lost, although its defaults do not wait for
// the disk, nothing is there twice, and those who were appending go on.
func TestServerKilled(t *testing.T) {
	s := started(t)
	w := write(t, fresh(t))
	rounds := 1
	if os.Getenv("PAWL_PROOF") != "" {
		rounds = 40
	}
	for range rounds {
		w.further(t)
		s.kill(t)
		s.restart(t)
		w.further(t)
	}
	w.stop(t)
}

// TestBackendKilled kills one of the server's processes under a statement,
// whereupon it ends all of them and recovers by itself.
func TestBackendKilled(t *testing.T) {
	s := started(t)
	w := write(t, fresh(t))
	w.further(t)
	before, err := os.ReadFile(s.log())
	must(t, err)
	c, err := pgx.Connect(t.Context(), s.url())
	must(t, err)
	defer c.Close(context.Background())
	var pid int
	until(t, "somebody appends", func() bool {
		return c.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity WHERE application_name = 'pawl' AND state = 'active' LIMIT 1`).Scan(&pid) == nil
	})
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	until(t, "the server has recovered", func() bool {
		after, err := os.ReadFile(s.log())
		return err == nil && bytes.Contains(after[len(before):], []byte("terminated by signal 9")) &&
			bytes.Contains(after[len(before):], []byte("ready to accept connections"))
	})
	w.further(t)
	w.stop(t)
}

// TestSabotage shows that the tests above would notice: appends that do not
// wait for the disk are lost when the server is killed.
func TestSabotage(t *testing.T) {
	s := started(t)
	raw(t, `DROP TABLE IF EXISTS unsafe; CREATE TABLE unsafe (n int)`)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.url())
	must(t, err)
	acked := 0
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); acked++ {
		if _, err := c.Exec(ctx, `INSERT INTO unsafe VALUES (1)`); err != nil {
			t.Fatal(err)
		}
	}
	s.kill(t)
	s.restart(t)
	if c, err = pgx.Connect(ctx, s.url()); err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	var left int
	err = c.QueryRow(ctx, `SELECT count(*) FROM unsafe`).Scan(&left)
	if lost, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || lost.Code != "42P01") { // the table may be lost with its rows
		t.Fatal(err)
	}
	if left >= acked {
		t.Errorf("of %d unsafe inserts %d are left: this server waits for the disk unasked", acked, left)
	}
}
