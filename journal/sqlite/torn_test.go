package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestTornAnywhere cuts the write-ahead log of a run at every few bytes, as a process does that
// dies while it writes: what is left is a beginning of the run, with all that was whole, and the
// run goes on from there.
func TestTornAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j.db")
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
	must(t, err)
	h, err := engine.New(j, nil).Start(t.Context(), new(payer).agent(), "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	if res, err := h.Wait(t.Context()); err != nil || res.Status != pawl.StatusSuccess {
		t.Fatal(res.Status, err)
	}
	db, err1 := os.ReadFile(path)
	wal, err2 := os.ReadFile(path + "-wal")
	whole := lines(t, j)
	must(t, errors.Join(err1, err2, j.Close()))
	step := 1999
	if os.Getenv("PAWL_PROOF") != "" {
		step = 7
	}
	seen := map[int]bool{}
	before := 0
	for at := 0; at <= len(wal)+step; at += step {
		path := filepath.Join(t.TempDir(), "j.db")
		must(t, errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", wal[:min(at, len(wal))], 0o600)))
		j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
		must(t, err)
		left := lines(t, j)
		for i, line := range left {
			if i >= len(whole) || line != whole[i] {
				t.Fatalf("cut at %d: entry %d is another", at, i+1)
			}
		}
		if len(left) < before {
			t.Fatalf("cut at %d: %d entries are left, and %d with less of the log", at, len(left), before)
		}
		before = len(left)
		if !seen[before] && before > 0 && before < len(whole) {
			goesOn(t, j, &payer{paid: finished(t, j)})
		}
		seen[before] = true
		must(t, j.Close())
	}
	if before != len(whole) || len(seen) < 2*payments {
		t.Errorf("%d of %d entries are there in the end, after %d different beginnings", before, len(whole), len(seen))
	}
}

// lines is the log as it stands in the journal.
func lines(t *testing.T, j *sqlite.Journal) (out []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), "r", 0) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			break
		}
		must(t, err)
		out = append(out, string(r.Data))
	}
	return out
}

// finished are the calls whose outcome the log knows.
func finished(t *testing.T, j *sqlite.Journal) (out []string) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, "r", 1) {
		must(t, err)
		if f, ok := e.Event.(pawl.ToolFinished); ok {
			out = append(out, f.Call)
		}
	}
	return out
}
