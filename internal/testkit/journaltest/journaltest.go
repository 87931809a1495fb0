// Package journaltest checks that a journal keeps the contract of [pawl.Journal],
// and of [pawl.Inbox], [pawl.Blobs] and [pawl.Remover] where it implements them.
package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-run/pawl"
)

// Options are what some journals can be asked beyond the contract. Nil means none.
type Options struct {
	// Reopen closes the journal and opens the same store again. Durable
	// journals set it; without it nothing is checked across a restart.
	Reopen func(t *testing.T, j pawl.Journal) pawl.Journal
	// Sealed says that the journal stores no text as it is, so that no search finds one.
	Sealed bool
}

// Run checks every rule of the contract as a subtest of its own. Open gives an
// empty journal for one subtest and cleans up after it through t. The whole
// takes a second or two on a journal that syncs every append.
func Run(t *testing.T, open func(t *testing.T) pawl.Journal, o *Options) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	for _, part := range [][]rule{claims, appends, races, reads, lists, letters, blobs, removals, searches, queues, rates, ledgers, keeping} {
		for _, r := range part {
			if o.Sealed && strings.HasPrefix(r.name, "search") {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				c := &check{T: t, rule: r.says, Journal: open(t), options: o}
				r.test(c)
			})
		}
	}
}

// A rule is one sentence of the contract and what shows that it is kept.
type rule struct {
	name string
	says string
	test func(c *check)
}

// A check is one rule being tried on one journal. Whatever fails says the rule.
type check struct {
	*testing.T
	pawl.Journal

	rule    string
	options *Options
}

func (c *check) failf(format string, args ...any) {
	c.Helper()
	c.Fatalf("%s\nthe rule: %s", fmt.Sprintf(format, args...), c.rule)
}

func (c *check) ok(err error, doing string) {
	c.Helper()
	if err != nil {
		c.failf("%s: %v", doing, err)
	}
}

func (c *check) is(err, want error, doing string) {
	c.Helper()
	if !errors.Is(err, want) {
		c.failf("%s: the error is %v, not one that is %q", doing, err, want)
	}
}

func (c *check) same(want, got any, what string) {
	c.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateApproxTime(0), cmpopts.EquateEmpty()); d != "" {
		c.failf("%s is not as it should be (- wanted, + found):\n%s", what, d)
	}
}

// reopen is the journal after a restart; the subtest is skipped for journals without one.
func (c *check) reopen() {
	c.Helper()
	if c.options.Reopen == nil {
		c.Skip("this journal does not outlive its process")
	}
	c.Journal = c.options.Reopen(c.T, c.Journal)
}

// claim takes a lease that will not lapse during a test.
func (c *check) claim(run string) pawl.Lease {
	c.Helper()
	return c.take(pawl.Claim{Run: run, Owner: "me", TTL: time.Minute, New: true}, "claiming the new run "+run)
}

// take insists on a lease.
func (c *check) take(k pawl.Claim, doing string) pawl.Lease {
	c.Helper()
	l, err := c.Claim(c.Context(), k)
	c.ok(err, doing)
	return l
}

// held insists on the error that names a live lease, and returns that lease.
func (c *check) held(k pawl.Claim, doing string) pawl.Lease {
	c.Helper()
	_, err := c.Claim(c.Context(), k)
	held, ok := errors.AsType[*pawl.HeldError](err)
	if !ok {
		c.failf("%s: the error is %v, not a *HeldError", doing, err)
	}
	return held.Lease
}

// add appends records with a head that says little.
func (c *check) add(l pawl.Lease, after uint64, records ...string) error {
	return c.Append(c.Context(), batch(l, after, records...))
}

// headed appends a batch with a head of its own.
func (c *check) headed(b pawl.Batch, h pawl.Head) {
	c.Helper()
	b.Head, b.Head.Run = h, b.Run
	c.ok(c.Append(c.Context(), b), "appending")
}

func batch(l pawl.Lease, after uint64, records ...string) pawl.Batch {
	b := pawl.Batch{Run: l.Run, Epoch: l.Epoch, After: after}
	for _, r := range records {
		b.Records = append(b.Records, []byte(r))
	}
	b.Head = pawl.Head{Run: l.Run, Status: pawl.StatusRunning, Seq: after + uint64(len(records)), Created: day, Updated: day}
	return b
}

// day is whole in microseconds, the finest that all databases keep.
var day = time.Date(2026, 3, 1, 12, 30, 0, 123456000, time.UTC)

// log reads a run from seq on and insists that seqs run without a gap.
func (c *check) log(run string, from uint64) []string {
	c.Helper()
	out := []string{}
	for r, err := range c.Read(c.Context(), run, from) {
		c.ok(err, "reading "+run)
		if want := max(from, 1) + uint64(len(out)); r.Seq != want {
			c.failf("reading %s from %d: record %d comes with seq %d, not %d", run, from, len(out)+1, r.Seq, want)
		}
		out = append(out, string(r.Data))
	}
	return out
}

func (c *check) logIs(run string, want ...string) {
	c.Helper()
	c.same(strings.Join(want, "\n"), strings.Join(c.log(run, 0), "\n"), "the log of "+run)
}
