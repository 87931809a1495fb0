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

// TestTornRun cuts the write-ahead log of a run at every frame, and within it: what
// is left is the run up to some append, and it goes on from there.
func TestTornRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j.db")
	j, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &payer{}
	h, err := engine.New(j, nil).Start(t.Context(), p.agent(), "go", &engine.StartOptions{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := h.Wait(t.Context()); err != nil || res.Status != pawl.Success {
		t.Fatal(res.Status, err)
	}
	db, err1 := os.ReadFile(path)
	wal, err2 := os.ReadFile(path + "-wal")
	whole := lines(t, j)
	if err := errors.Join(err1, err2, j.Close()); err != nil {
		t.Fatal(err)
	}
	const head, frame = 32, 24 + 2048 // see https://sqlite.org/fileformat2.html#walformat
	left := map[int]bool{}
	for at := head; at <= len(wal); at += frame {
		for _, cut := range []int{at - 1, at, at + 24 + 1, at + frame/2} {
			if cut > len(wal) {
				continue
			}
			torn := filepath.Join(t.TempDir(), "j.db")
			if err := errors.Join(os.WriteFile(torn, db, 0o600), os.WriteFile(torn+"-wal", wal[:cut], 0o600)); err != nil {
				t.Fatal(err)
			}
			j, err := sqlite.Open(t.Context(), torn, &sqlite.Options{Normal: true})
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			is := lines(t, j)
			for i, line := range is {
				if line != whole[i] {
					t.Fatalf("cut at %d: entry %d is another", cut, i+1)
				}
			}
			if n := len(is); !left[n] && n > 0 && n < len(whole) {
				goesOn(t, j, &payer{paid: finished(t, j)})
			}
			left[len(is)] = true
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !left[len(whole)] || len(left) < 2*payments {
		t.Errorf("the cuts left only %d different ends: they cut nothing", len(left))
	}
}

// lines is the log as it stands in the journal.
func lines(t *testing.T, j *sqlite.Journal) (out []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), "r", 0) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(r.Data))
	}
	return out
}

// finished are the calls whose outcome the log knows.
func finished(t *testing.T, j *sqlite.Journal) (out []string) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, "r", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := e.Event.(pawl.ToolFinished); ok {
			out = append(out, f.Call)
		}
	}
	return out
}
