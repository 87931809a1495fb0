package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

func opened(t *testing.T, path string, o *Options) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, o)
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	return j
}

// onDisk opens a journal on a disk that can be broken.
func onDisk(t *testing.T) (*Journal, *disk) {
	t.Helper()
	d, name := newDisk(t)
	return opened(t, filepath.Join(t.TempDir(), "j.db"), &Options{vfs: name}), d
}

func claimed(t *testing.T, j *Journal, run string) pawl.Batch {
	t.Helper()
	l, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "me", TTL: time.Minute, New: true})
	must(t, err)
	return pawl.Batch{Run: run, Epoch: l.Epoch, Records: [][]byte{[]byte("a")}, Head: pawl.Head{Status: pawl.StatusRunning}}
}

func count(t *testing.T, j *Journal, run string) int {
	t.Helper()
	n := 0
	for _, err := range j.Read(t.Context(), run, 0) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestFaults breaks the disk and repairs it: a failed call returns an error, leaves
// nothing behind, and calls after the repair succeed.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		op   string
		err  error
		says string
	}{
		"full":  {"write", syscall.ENOSPC, "the disk is full or fails"},
		"write": {"write", syscall.EIO, "the disk is full or fails"},
		"sync":  {"sync", syscall.EIO, "the disk is full or fails"},
	} {
		t.Run(name, func(t *testing.T) {
			j, d := onDisk(t)
			b := claimed(t, j, "r")
			other := claimed(t, j, "other")
			for round := range 3 {
				must(t, j.Append(t.Context(), b))
				b.After++
				d.Breaks(c.op, 0, c.err)
				broken := b
				broken.Records = [][]byte{[]byte("lost"), bytes.Repeat([]byte("x"), 10_000)}
				broken.Head = pawl.Head{Status: pawl.StatusFailed, Agent: "lost"}
				var all sync.WaitGroup
				for _, b := range []pawl.Batch{broken, other} {
					all.Go(func() {
						err := j.Append(t.Context(), b)
						if err == nil || !strings.Contains(err.Error(), j.path) || !strings.Contains(err.Error(), c.says) || !retry.Temporary(err) {
							t.Errorf("the error is %v; to be asked again: %v", err, retry.Temporary(err))
						}
					})
				}
				all.Wait()
				d.Repair()
				if got := count(t, j, "r"); got != round+1 {
					t.Fatalf("%d records are there, not %d", got, round+1)
				}
				for h, err := range j.List(t.Context(), pawl.Query{Run: "r"}) {
					if err != nil || h.Status != pawl.StatusRunning || h.Seq != uint64(round+1) {
						t.Fatalf("the head is %+v, %v", h, err)
					}
				}
			}
			must(t, j.Append(t.Context(), other))
		})
	}
}

// TestFull fills the database itself; the one that does not fit fails alone.
func TestFull(t *testing.T) {
	j, _ := onDisk(t)
	big, small := claimed(t, j, "big"), claimed(t, j, "small")
	pages, err := j.writer.number(`PRAGMA page_count`)
	must(t, err)
	must(t, j.writer.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+5)))
	big.Records = [][]byte{bytes.Repeat([]byte("x"), 100_000)}
	errs := together(t, j, func() error { return j.Append(t.Context(), big) }, func() error { return j.Append(t.Context(), small) })
	if err := errs[0]; err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the big one's error is %v", err)
	}
	if errs[1] != nil {
		t.Errorf("the small one fails too: %v", errs[1])
	}
	_, err = j.writer.number(`PRAGMA max_page_count = 1000000`)
	must(t, err)
	must(t, j.Append(t.Context(), big))
}

// together brings calls into one transaction: it leads one itself that lasts
// until the others wait in the queue.
func together(t *testing.T, j *Journal, calls ...func() error) []error {
	t.Helper()
	queued := func() int {
		j.writer.mu.Lock()
		defer j.writer.mu.Unlock()
		return len(j.writer.queue)
	}
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	err := j.writer.write(t.Context(), func(*writer) error {
		for i, call := range calls {
			all.Go(func() { errs[i] = call() })
			for queued() <= i {
				time.Sleep(100 * time.Microsecond)
			}
		}
		return nil
	})
	must(t, err)
	all.Wait()
	return errs
}

// TestShared checks that calls that share a transaction do not share their refusals.
func TestShared(t *testing.T) {
	j, _ := onDisk(t)
	a, b := claimed(t, j, "a"), claimed(t, j, "b")
	stale, early := b, b
	stale.Epoch, early.After = 7, 3
	errs := together(t, j,
		func() error { return j.Append(t.Context(), stale) },
		func() error { return j.Append(t.Context(), a) },
		func() error { return j.Append(t.Context(), early) },
		func() error { _, err := j.Claim(t.Context(), pawl.Claim{Run: "b", TTL: 1}); return err },
		func() error {
			_, err := j.Send(t.Context(), pawl.Signal{Run: "c", Kind: pawl.SignalCancel})
			return err
		},
		func() error { return j.Append(t.Context(), b) },
		func() error {
			_, err := j.Claim(t.Context(), pawl.Claim{Run: "b", TTL: time.Minute, Owner: "next", Over: b.Epoch})
			return err
		},
		func() error { late := b; late.After++; return j.Append(t.Context(), late) },
	)
	for i, want := range []error{pawl.ErrFenced, nil, pawl.ErrConflict, errors.ErrUnsupported, pawl.ErrUnknownRun, nil, nil, pawl.ErrFenced} {
		if want == errors.ErrUnsupported {
			if held := new(pawl.HeldError); !errors.As(errs[i], &held) {
				t.Errorf("call %d: %v", i, errs[i])
			}
		} else if !errors.Is(errs[i], want) {
			t.Errorf("call %d: %v, not %v", i, errs[i], want)
		}
	}
	if n, m := count(t, j, "a"), count(t, j, "b"); n != 1 || m != 1 {
		t.Errorf("the logs hold %d and %d records", n, m)
	}
}

// TestPatience checks how long a lock of somebody else is waited for.
func TestPatience(t *testing.T) {
	j, _ := onDisk(t)
	b := claimed(t, j, "r")
	other, err := connect(t.Context(), j.path, &Options{}, view{})
	must(t, err)
	defer func() { must(t, other.close()) }()
	must(t, other.Exec(`BEGIN IMMEDIATE`))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	// One leads and one follows; both have enough at the same time.
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if err := j.Append(ctx, b); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), j.path) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	all.Wait()
	done := make(chan error)
	go func() { done <- j.Append(t.Context(), b) }()
	select {
	case err := <-done:
		t.Fatalf("the append did not wait: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	if got := count(t, j, "r"); got != 0 {
		t.Errorf("%d records are there already", got)
	}
	must(t, other.Exec(`INSERT INTO signals (run, kind, request, sender) VALUES (1, 'cancel', '', ''); COMMIT`))
	must(t, <-done)
	// What the other connection wrote between two appends is seen.
	must(t, other.Exec(`UPDATE runs SET epoch = 9`))
	b.After++
	if err := j.Append(t.Context(), b); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("after another process has taken the run: %v", err)
	}
}

func TestClosed(t *testing.T) {
	j, err := Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), nil)
	must(t, err)
	b := claimed(t, j, "r")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for after := uint64(0); ; after++ {
				b := b
				b.Run, b.After = fmt.Sprint("run-", i), after
				if _, err := j.Claim(t.Context(), pawl.Claim{Run: b.Run, TTL: time.Minute, New: true}); after == 0 && err != nil && !errors.Is(err, errClosed) {
					t.Error(err)
				}
				if err := j.Append(t.Context(), b); err != nil {
					if !errors.Is(err, errClosed) && !errors.Is(err, pawl.ErrUnknownRun) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	must(t, errors.Join(j.Close(), j.Close()))
	all.Wait()
	for _, err := range j.Read(t.Context(), "r", 0) {
		if !errors.Is(err, errClosed) {
			t.Errorf("reading what is closed: %v", err)
		}
	}
}

var must = check.Must
