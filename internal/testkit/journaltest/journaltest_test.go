package journaltest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/journaltest"
	"github.com/pawl-run/pawl/journal/memory"
)

// A broken journal is a sound one but for a single rule.
type broken struct {
	*memory.Journal

	claim  func(j *memory.Journal, c pawl.Claim) (pawl.Lease, error)
	append func(j *memory.Journal, b pawl.Batch) error
	read   func(j *memory.Journal, run string, from uint64) iter.Seq2[pawl.Row, error]
	list   func(j *memory.Journal, q pawl.Query) iter.Seq2[pawl.Head, error]
	post   func(j *memory.Journal, l pawl.Signal) (pawl.Signal, error)
	remove func(j *memory.Journal, run string, epoch uint64) error
	sweep  func(j *memory.Journal, before time.Time, keep func(string) bool) (int, error)
	keep   func(j *memory.Journal, name string, was, now []byte) error
}

func (b *broken) Keep(ctx context.Context, name string, was, now []byte) error {
	if b.keep == nil {
		return b.Journal.Keep(ctx, name, was, now)
	}
	return b.keep(b.Journal, name, was, now)
}

func (b *broken) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if b.claim == nil {
		return b.Journal.Claim(ctx, c)
	}
	return b.claim(b.Journal, c)
}

func (b *broken) Append(ctx context.Context, batch pawl.Batch) error {
	if b.append == nil {
		return b.Journal.Append(ctx, batch)
	}
	return b.append(b.Journal, batch)
}

func (b *broken) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	if b.read == nil {
		return b.Journal.Read(ctx, run, from)
	}
	return b.read(b.Journal, run, from)
}

func (b *broken) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	if b.list == nil {
		return b.Journal.List(ctx, q)
	}
	return b.list(b.Journal, q)
}

func (b *broken) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if b.post == nil {
		return b.Journal.Send(ctx, l)
	}
	return b.post(b.Journal, l)
}

func (b *broken) Remove(ctx context.Context, run string, epoch uint64) error {
	if b.remove == nil {
		return b.Journal.Remove(ctx, run, epoch)
	}
	return b.remove(b.Journal, run, epoch)
}

func (b *broken) RemoveBlobs(ctx context.Context, before time.Time, keep func(string) bool) (int, error) {
	if b.sweep == nil {
		return b.Journal.RemoveBlobs(ctx, before, keep)
	}
	return b.sweep(b.Journal, before, keep)
}

var bg = context.Background()

// current asks what a stale caller should not know.
func current(j *memory.Journal, run string) pawl.Head {
	for h := range j.List(bg, pawl.Query{Run: run}) {
		if h.Run == run {
			return h
		}
	}
	return pawl.Head{}
}

// cases say which part of the suite has to notice what.
var cases = map[string]struct {
	notices string
	broken  broken
}{
	"takes a live lease": {"claim/live", broken{claim: func(j *memory.Journal, c pawl.Claim) (pawl.Lease, error) {
		if !c.New && c.Epoch == 0 {
			c.Over = current(j, c.Run).Lease.Epoch
		}
		return j.Claim(bg, c)
	}}},
	"creates twice": {"claim/new", broken{claim: func(j *memory.Journal, c pawl.Claim) (pawl.Lease, error) {
		l, err := j.Claim(bg, c)
		if errors.Is(err, pawl.ErrRunExists) {
			c.New, c.Over = false, current(j, c.Run).Lease.Epoch
			return j.Claim(bg, c)
		}
		return l, err
	}}},
	"never fences": {"append/fenced", broken{append: func(j *memory.Journal, b pawl.Batch) error {
		if now := current(j, b.Run).Lease.Epoch; now > 0 {
			b.Epoch = now
		}
		return j.Append(bg, b)
	}}},
	"appends anywhere": {"append/conflict", broken{append: func(j *memory.Journal, b pawl.Batch) error {
		b.After = current(j, b.Run).Seq
		return j.Append(bg, b)
	}}},
	"splits batches": {"race/batches", broken{append: func(j *memory.Journal, b pawl.Batch) error {
		whole := b.Records
		for i := range whole {
			b.Records = whole[i : i+1]
			if err := j.Append(bg, b); err != nil {
				return err
			}
			b.After++
			time.Sleep(50 * time.Microsecond)
		}
		return nil
	}}},
	"keeps the first head": {"list/head", broken{append: func(j *memory.Journal, b pawl.Batch) error {
		if h := current(j, b.Run); h.Seq > 0 {
			b.Head = h
		}
		return j.Append(bg, b)
	}}},
	"reads from the start": {"read/middle", broken{read: func(j *memory.Journal, run string, _ uint64) iter.Seq2[pawl.Row, error] {
		return j.Read(bg, run, 0)
	}}},
	"is silent about unknown runs": {"read/unknown", broken{read: func(j *memory.Journal, run string, from uint64) iter.Seq2[pawl.Row, error] {
		if current(j, run).Run == "" {
			return func(func(pawl.Row, error) bool) {}
		}
		return j.Read(bg, run, from)
	}}},
	"counts before filtering": {"list/max", broken{list: func(j *memory.Journal, q pawl.Query) iter.Seq2[pawl.Head, error] {
		labels := q.Labels
		q.Labels = nil
		return func(yield func(pawl.Head, error) bool) {
			for h, err := range j.List(bg, q) {
				fits := true
				for k, v := range labels {
					fits = fits && h.Labels[k] == v
				}
				if fits && !yield(h, err) {
					return
				}
			}
		}
	}}},
	"never wakes": {"list/due", broken{list: func(j *memory.Journal, q pawl.Query) iter.Seq2[pawl.Head, error] {
		if !q.Due.IsZero() {
			return func(func(pawl.Head, error) bool) {}
		}
		return j.List(bg, q)
	}}},
	"never finds what was lost": {"list/lost", broken{list: func(j *memory.Journal, q pawl.Query) iter.Seq2[pawl.Head, error] {
		return func(yield func(pawl.Head, error) bool) {
			for h, err := range j.List(bg, q) {
				if (q.Due.IsZero() || !h.WakeAt.IsZero()) && !yield(h, err) {
					return
				}
			}
		}
	}}},
	"hides the lease": {"list/head", broken{list: func(j *memory.Journal, q pawl.Query) iter.Seq2[pawl.Head, error] {
		return func(yield func(pawl.Head, error) bool) {
			for h, err := range j.List(bg, q) {
				h.Lease = pawl.Lease{}
				if !yield(h, err) {
					return
				}
			}
		}
	}}},
	"takes every letter": {"mail/conflict", broken{post: func(j *memory.Journal, l pawl.Signal) (pawl.Signal, error) {
		got, err := j.Send(bg, l)
		if conflict := new(pawl.SignalConflictError); errors.As(err, &conflict) {
			return conflict.First, nil
		}
		return got, err
	}}},
	"removes what others own": {"remove/fenced", broken{remove: func(j *memory.Journal, run string, _ uint64) error {
		return j.Remove(bg, run, current(j, run).Lease.Epoch)
	}}},
	"removes nothing": {"remove/run", broken{remove: func(*memory.Journal, string, uint64) error { return nil }}},
	"removes what is wanted": {"remove/blobs", broken{sweep: func(j *memory.Journal, before time.Time, _ func(string) bool) (int, error) {
		return j.RemoveBlobs(bg, before, func(string) bool { return false })
	}}},
	"removes what is new": {"remove/stored", broken{sweep: func(j *memory.Journal, _ time.Time, keep func(string) bool) (int, error) {
		return j.RemoveBlobs(bg, time.Now().Add(time.Hour), keep)
	}}},
	"keeps what the caller has not seen": {"kept/swap", broken{keep: func(j *memory.Journal, name string, was, now []byte) error {
		for r := range j.Kept(bg, name) {
			if was = r.Data; r.Name == name {
				break
			}
		}
		return j.Keep(bg, name, was, now)
	}}},
}

// TestSuiteNotices runs the suite in another process on journals that break
// one rule each, since a test cannot survive the failure of its subtests.
func TestSuiteNotices(t *testing.T) {
	if name := os.Getenv("PAWL_TEST_BROKEN"); name != "" {
		journaltest.Run(t, func(*testing.T) pawl.Journal {
			j := cases[name].broken
			j.Journal = memory.New()
			return &j
		}, nil)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self, "-test.run=^TestSuiteNotices$/^"+c.notices+"$")
			cmd.Env = append(os.Environ(), "PAWL_TEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) {
				t.Fatalf("%s did not notice: %v\n%s", c.notices, err, out)
			}
			if !strings.Contains(string(out), "the rule: ") {
				t.Errorf("the failure does not say which rule is broken:\n%s", out)
			}
		})
	}
}
