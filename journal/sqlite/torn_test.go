package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// walRun is a run of the payer, as it stands in files whose process has died.
type walRun struct {
	db, wal []byte
	whole   []string
}

func newWALRun(t *testing.T) (r walRun) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.db")
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
	must(t, err)
	p := &payer{}
	h, err := engine.New(j, nil).Start(t.Context(), p.agent(), "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	if res, err := h.Wait(t.Context()); err != nil || res.Status != pawl.StatusSuccess {
		t.Fatal(res.Status, err)
	}
	var err1, err2 error
	r.db, err1 = os.ReadFile(path)
	r.wal, err2 = os.ReadFile(path + "-wal")
	r.whole = lines(t, j)
	must(t, errors.Join(err1, err2, j.Close()))
	return r
}

// after opens the database beside another log, and returns what there is to read.
func (r walRun) after(t *testing.T, dir string, wal []byte) (j *sqlite.Journal, log []string) {
	t.Helper()
	path := filepath.Join(dir, "j.db")
	_ = os.Remove(path + "-shm") // of the database before
	must(t, errors.Join(os.WriteFile(path, r.db, 0o600), os.WriteFile(path+"-wal", wal, 0o600)))
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
	must(t, err)
	return j, lines(t, j)
}

// prefix holds that what is there is what was there first, and returns how much.
func (r walRun) prefix(t *testing.T, what string, at int, log []string) int {
	t.Helper()
	for i, line := range log {
		if i >= len(r.whole) || line != r.whole[i] {
			t.Fatalf("%s %d: entry %d is another", what, at, i+1)
		}
	}
	return len(log)
}

// bytewise is how many bytes a test that may look at every byte goes at once.
func bytewise(t *testing.T, usual int) int {
	t.Helper()
	switch {
	case os.Getenv("PAWL_PROOF") != "":
		return 1
	case testing.Short():
		return 8 * usual
	}
	return usual
}

// TestTornAnywhere cuts the write-ahead log at any byte of its last 64 KiB: what is
// left is the longest run of whole commits, the journal says how many bytes it has
// dropped, who recovers a second time finds the same, and the run goes on.
func TestTornAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	t.Parallel()
	r := newWALRun(t)
	const head, frame = 32, 24 + 2048
	commits := []int{0} // where the log may end
	left := []int{0}    // and how many entries are there then
	dir := t.TempDir()
	for at := head + frame; at <= len(r.wal); at += frame {
		if h := r.wal[at-frame:]; bytes.Equal(h[4:8], make([]byte, 4)) {
			continue // no commit
		}
		j, log := r.after(t, dir, r.wal[:at])
		if b, n := j.Dropped(); b != 0 || n != 0 {
			t.Errorf("cut at %d, behind a commit: %d bytes in %d commits are said to be dropped", at, b, n)
		}
		n := r.prefix(t, "cut at", at, log)
		if n > left[len(left)-1] && n < len(r.whole) {
			goesOn(t, j, &payer{paid: finished(t, j)})
		}
		commits, left = append(commits, at), append(left, n)
		must(t, j.Close())
	}
	if n := left[len(left)-1]; n != len(r.whole) || len(commits) < 10 {
		t.Fatalf("%d commits hold %d of %d entries", len(commits), n, len(r.whole))
	}
	last := len(commits) - 1
	for at := len(r.wal); at > max(0, len(r.wal)-64<<10); at -= bytewise(t, 661) {
		for commits[last] > at {
			last--
		}
		j, log := r.after(t, dir, r.wal[:at])
		if n := r.prefix(t, "cut at", at, log); n != left[last] {
			t.Fatalf("cut at %d: %d entries are left, not %d", at, n, left[last])
		}
		behind := at - commits[last]
		if last == 0 && at >= head {
			behind -= head
		}
		if b, n := j.Dropped(); b != int64(behind) || n > 1 {
			t.Fatalf("cut at %d, %d bytes behind a commit: %d bytes in %d commits are said to be dropped", at, behind, b, n)
		}
		must(t, j.Close())
		again, err := sqlite.Open(t.Context(), filepath.Join(dir, "j.db"), &sqlite.Options{Normal: true})
		must(t, err)
		if now := lines(t, again); strings.Join(now, "\n") != strings.Join(log, "\n") {
			t.Fatalf("cut at %d: recovered twice, it is another log", at)
		}
		must(t, again.Close())
	}
}

// TestFlippedLog turns a bit of the write-ahead log at any byte: what is left is a
// beginning of the run, and that something is missing is said. What looks like
// one torn write cannot be told from one; more than that is.
func TestFlippedLog(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	t.Parallel()
	r := newWALRun(t)
	dir := t.TempDir()
	seen, lost := map[int]bool{}, 0
	var places []int
	for at := range r.wal {
		const head, frame = 32, 24 + 2048
		n, in := (at-head)/frame, (at-head)%frame
		if at < head || at%bytewise(t, 397) == 0 || in == n*5%24 { // a byte of each frame's own head
			places = append(places, at)
		}
	}
	for _, at := range places {
		wal := bytes.Clone(r.wal)
		wal[at] ^= 1 << (at % 8)
		j, log := r.after(t, dir, wal)
		n := r.prefix(t, "flipped", at, log)
		b, commits := j.Dropped()
		if n < len(r.whole) && b == 0 {
			t.Fatalf("byte %d: of %d entries %d are there, and nobody says that something is missing", at, len(r.whole), n)
		}
		if commits > 1 {
			lost++
		}
		if !seen[n] && n > 0 && n < len(r.whole) {
			goesOn(t, j, &payer{paid: finished(t, j)})
		}
		seen[n] = true
		must(t, j.Close())
	}
	if len(seen) < 2*payments || lost == 0 {
		t.Errorf("the flips left only %d different ends, and %d times more than a torn write was missing", len(seen), lost)
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
