package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestMigration opens a database as version 1 wrote it, before there were signals and blobs.
func TestMigration(t *testing.T) {
	text, err := os.ReadFile("testdata/version1.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "j.db")
	raw(t, path, string(text))
	for range 2 { // the second time there is nothing left to do
		j := openAt(t, path, nil)
		var log []string
		for r, err := range j.Read(t.Context(), "run-1", 0) {
			must(t, err)
			log = append(log, string(r.Data))
		}
		if d := cmp.Diff([]string{`{"seq":1}`, `{"seq":2}`, `{"seq":3}`}, log); d != "" {
			t.Error(d)
		}
		found := 0
		for h, err := range j.List(t.Context(), pawl.Query{Labels: map[string]string{"team": "ops"}}) {
			found++
			want := pawl.Head{
				Run: "run-1", Agent: "buyer", Loop: "react", Status: pawl.StatusWaitingApproval, Seq: 3, Iterations: 2, Cost: 0.25, Priced: true,
				Labels: map[string]string{"team": "ops"}, Created: time.Unix(1700000000, 0).UTC(), Updated: time.Unix(1700000009, 0).UTC(),
				Lease: pawl.Lease{Run: "run-1", Epoch: 4},
			}
			if d := cmp.Diff(want, h); err != nil || d != "" {
				t.Error(err, d)
			}
		}
		if found != 1 {
			t.Errorf("%d runs have the label", found)
		}
		if _, err := j.Send(t.Context(), pawl.Signal{Run: "run-1", Kind: pawl.SignalCancel, Request: "q", Body: []byte(`1`)}); err != nil {
			t.Error(err)
		}
		must(t, j.Close())
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ sql, says string }{
		"newer":    {`PRAGMA application_id = 0x5041574c; PRAGMA user_version = 99; CREATE TABLE runs (x)`, "newer version of pawl (schema 99, this one knows 10): upgrade pawl"},
		"foreign":  {`CREATE TABLE users (x)`, "another program"},
		"foreign2": {`PRAGMA application_id = 7; PRAGMA user_version = 1`, "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j.db")
			raw(t, path, c.sql)
			before, err := os.ReadFile(path)
			must(t, err)
			j, err := sqlite.Open(t.Context(), path, nil)
			if err == nil {
				_ = j.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
			after, err := os.ReadFile(path)
			if d := cmp.Diff(before, after); err != nil || d != "" {
				t.Error("the refused database was changed", err)
			}
		})
	}
	if _, err := sqlite.Open(t.Context(), t.TempDir(), nil); err == nil {
		t.Error("a directory was opened")
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "j.db")
	j := openAt(t, path, nil)
	if _, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Minute, New: true}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		"a": 0o700, "a/b": 0o700, "a/b/j.db": 0o600, "a/b/j.db-wal": 0o600, "a/b/j.db-shm": 0o600,
	} {
		info, err := os.Stat(filepath.Join(root, name))
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, not %o", name, got, want)
		}
	}
}

// TestOpenAtOnce opens a database that is not there yet from many sides.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			j, err := sqlite.Open(context.Background(), path, nil)
			if err == nil {
				_, err = j.Claim(context.Background(), pawl.Claim{Run: string(rune('a' + i)), TTL: time.Minute, New: true})
				err = errors.Join(err, j.Close())
			}
			errs[i] = err
		})
	}
	all.Wait()
	must(t, errors.Join(errs...))
	n := 0
	for _, err := range openAt(t, path, nil).List(t.Context(), pawl.Query{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != len(errs) {
		t.Errorf("%d runs are there, not %d", n, len(errs))
	}
}

// TestSearchOld searches a database whose logs were written before texts were indexed.
func TestSearchOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	j := openAt(t, path, nil)
	e := pawl.Entry{Run: "old", Seq: 1, Time: time.Unix(1700000000, 0), Event: pawl.RunStarted{Input: "Where is parcel 4711?"}}
	record, err := e.AppendJSON(nil)
	must(t, err)
	for run, record := range map[string][]byte{"old": record, "odd": []byte("{}")} {
		l, err := j.Claim(t.Context(), pawl.Claim{Run: run, TTL: time.Minute, New: true})
		must(t, err)
		must(t, j.Append(t.Context(), pawl.Batch{Run: run, Epoch: l.Epoch, Records: [][]byte{record}}))
	}
	raw(t, path, `INSERT INTO unindexed SELECT ref FROM runs`)
	for range 2 { // the second time it is indexed
		var found []string
		for h, err := range j.Search(t.Context(), "parcel", pawl.Query{}) {
			must(t, err)
			found = append(found, h.Run)
		}
		if len(found) != 1 || found[0] != "old" {
			t.Errorf("found %v", found)
		}
	}
}
