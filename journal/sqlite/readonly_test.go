package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// shelf is a directory with one database in it, and what it holds.
type shelf string

func (s shelf) path() string { return filepath.Join(string(s), "j.db") }

func (s shelf) files(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	all, err := os.ReadDir(string(s))
	must(t, err)
	for _, e := range all {
		data, err := os.ReadFile(filepath.Join(string(s), e.Name()))
		must(t, err)
		out[e.Name()] = string(data)
	}
	return out
}

// seal takes the right to write away, which a superuser does not notice, and
// gives it back at the end.
func (s shelf) seal(t *testing.T) {
	t.Helper()
	for name := range s.files(t) {
		must(t, os.Chmod(filepath.Join(string(s), name), 0o400))
	}
	must(t, os.Chmod(string(s), 0o500))
	t.Cleanup(func() { _ = os.Chmod(string(s), 0o700) })
}

func log(ctx context.Context, t *testing.T, j pawl.Journal) []string {
	t.Helper()
	var out []string
	for r, err := range j.Read(ctx, "r", 1) {
		must(t, err)
		out = append(out, string(r.Data))
	}
	return out
}

func readOnly(t *testing.T, path string) *sqlite.Journal {
	t.Helper()
	return openAt(t, path, &sqlite.Options{ReadOnly: true})
}

// A database that may only be read is read, and nothing appears beside it.
func TestReadOnly(t *testing.T) {
	s := shelf(t.TempDir())
	j := openAt(t, s.path(), nil)
	lease := begin(t, j)
	add(t, j, lease, 0, "1")
	must(t, j.Close())
	before := s.files(t)
	if names := slices.Sorted(maps.Keys(before)); !slices.Equal(names, []string{"j.db"}) {
		t.Fatalf("a closed database leaves %q", names)
	}
	s.seal(t)
	r := readOnly(t, s.path())
	if got := log(t.Context(), t, r); !slices.Equal(got, []string{"1"}) {
		t.Errorf("read %q", got)
	}
	if _, err := r.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute}); !errors.Is(err, sqlite.ErrReadOnly) || !strings.Contains(err.Error(), s.path()) {
		t.Errorf("claim: %v", err)
	}
	if err := r.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("2")}}); !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("append: %v", err)
	}
	if d := cmp.Diff(before, s.files(t)); d != "" {
		t.Error(d)
	}
}

// A reader sees new entries, also after a writer opens or closes the database.
func TestReadOnlyBesideWriter(t *testing.T) {
	s := shelf(t.TempDir())
	j := openAt(t, s.path(), nil)
	lease := begin(t, j)
	r := readOnly(t, s.path())
	var want []string
	for n := range 6 {
		line := strings.Repeat("x", 1+n)
		want = append(want, line)
		add(t, j, lease, uint64(n), line)
		if got := log(t.Context(), t, r); !slices.Equal(got, want) {
			t.Errorf("read %q, want %q", got, want)
		}
		if n%2 == 1 { // now it is a file that nobody has open, and then it is not
			must(t, j.Close())
			if got := log(t.Context(), t, r); !slices.Equal(got, want) {
				t.Errorf("without a writer: read %q, want %q", got, want)
			}
			j = openAt(t, s.path(), nil)
		}
	}
}

// What a killed writer has left in its log is read as well, unless the index is
// missing: then nothing is shown rather than less.
func TestReadOnlyAfterKill(t *testing.T) {
	s, copied := shelf(t.TempDir()), shelf(t.TempDir())
	j := openAt(t, s.path(), nil)
	add(t, j, begin(t, j), 0, "1")
	for name, data := range s.files(t) {
		must(t, os.WriteFile(filepath.Join(string(copied), name), []byte(data), 0o600))
	}
	copied.seal(t)
	if got := log(t.Context(), t, readOnly(t, copied.path())); !slices.Equal(got, []string{"1"}) {
		t.Errorf("read %q", got)
	}
	bare := shelf(t.TempDir())
	for name, data := range copied.files(t) {
		if strings.HasSuffix(name, "-shm") {
			continue
		}
		must(t, os.WriteFile(filepath.Join(string(bare), name), []byte(data), 0o600))
	}
	_, err := sqlite.Open(t.Context(), bare.path(), &sqlite.Options{ReadOnly: true})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "j.db-wal") {
		t.Errorf("without an index: %v", err)
	}
	if got := log(t.Context(), t, openAt(t, bare.path(), nil)); !slices.Equal(got, []string{"1"}) {
		t.Errorf("a connection that may write reads %q", got)
	}
}

// Reading makes nothing.
func TestReadOnlyRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "no", "j.db")
	if _, err := sqlite.Open(t.Context(), path, &sqlite.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a directory was made")
	}
	empty := filepath.Join(dir, "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	if _, err := sqlite.Open(t.Context(), empty, &sqlite.Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "no tables") {
		t.Error(err)
	}
}

func begin(t *testing.T, j pawl.Journal) pawl.Lease {
	t.Helper()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute, New: true})
	must(t, err)
	return lease
}

func add(t *testing.T, j pawl.Journal, lease pawl.Lease, after uint64, line string) {
	t.Helper()
	err := j.Append(t.Context(), pawl.Batch{Run: lease.Run, Epoch: lease.Epoch, After: after, Records: [][]byte{[]byte(line)}, Head: pawl.Head{Run: lease.Run, Status: pawl.StatusRunning}})
	must(t, err)
}
