//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
)

// TestSignalsInOrder holds a post back before its end. One that came later
// must not be seen before it, or who follows by the last ID would miss it.
func TestSignalsInOrder(t *testing.T) {
	j, schema := prepared(t)
	c, err := pgx.Connect(t.Context(), started(t).url())
	must(t, err)
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), `BEGIN; UPDATE `+schema+`.mailbox SET last = last + 1;
		INSERT INTO `+schema+`.signals (id, run, kind, request, sender, body) SELECT last, ref, 'answer', 'slow', '', '1' FROM `+schema+`.mailbox, `+schema+`.runs WHERE runs.id = 'r'`,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	posted := make(chan error, 1)
	go func() {
		_, err := j.Send(context.Background(), pawl.Signal{Run: "r", Kind: pawl.SignalAnswer, Request: "quick", Body: []byte("2")})
		posted <- err
	}()
	var seen []string
	last := int64(0)
	look := func() {
		for l, err := range j.Signals(t.Context(), "", last) {
			must(t, err)
			seen, last = append(seen, l.Request), l.ID
		}
	}
	for range 10 {
		look()
		time.Sleep(10 * time.Millisecond)
	}
	_, err = c.Exec(t.Context(), `COMMIT`)
	must(t, err)
	must(t, <-posted)
	look()
	if d := cmp.Diff([]string{"slow", "quick"}, seen); d != "" {
		t.Error(d)
	}
}

// TestManySignals reads more than fit in a portion.
func TestManySignals(t *testing.T) {
	j, schema := prepared(t)
	raw(t, `INSERT INTO `+schema+`.signals (id, run, kind, request, sender, body)
		SELECT last + n, ref, 'answer', n::text::bytea, '', repeat('x', CASE WHEN n % 100 = 0 THEN 700000 ELSE 1 END)::bytea
		FROM `+schema+`.mailbox, `+schema+`.runs, generate_series(1, 1500) AS n WHERE runs.id = 'r'`)
	n, last := 0, int64(0)
	for l, err := range j.Signals(t.Context(), "r", 0) {
		if n++; err != nil || l.ID <= last || l.Request != fmt.Sprint(n) {
			t.Fatal(n, l.ID, l.Request, err)
		}
		last = l.ID
	}
	if n != 1500 {
		t.Errorf("%d signals came", n)
	}
}

// TestRemovedWhole removes runs under the hands of those who append and post
// to them. Nothing of a run is left behind.
func TestRemovedWhole(t *testing.T) {
	j, schema := prepared(t)
	for round := range 15 {
		run := fmt.Sprint("run-", round)
		l, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "o", TTL: time.Hour, New: true})
		must(t, err)
		var all sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			all.Go(func() {
				for n := 0; errs[i] == nil; n++ {
					if i == 0 {
						errs[i] = j.Append(t.Context(), pawl.Batch{Run: run, Epoch: l.Epoch, After: uint64(n), Records: [][]byte{[]byte("x")}})
					} else {
						_, errs[i] = j.Send(t.Context(), pawl.Signal{Run: run, Kind: pawl.SignalAnswer, Request: fmt.Sprint(i, n), Body: []byte(`1`)})
					}
				}
			})
		}
		time.Sleep(time.Duration(round) * 2 * time.Millisecond)
		must(t, j.Remove(t.Context(), run, l.Epoch))
		all.Wait()
		for _, err := range errs {
			if !errors.Is(err, pawl.ErrUnknownRun) {
				t.Error(err)
			}
		}
	}
	raw(t, `DO $$ BEGIN
		ASSERT (SELECT count(*) FROM `+schema+`.runs) = 2, 'runs are left';
		ASSERT NOT EXISTS (SELECT FROM `+schema+`.signals), 'signals are left';
		ASSERT (SELECT count(*) FROM `+schema+`.batches) = 1, 'batches are left';
	END $$`)
}
