package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ sql, says string }{
		"newer":    {`PRAGMA application_id = 0x5041574c; PRAGMA user_version = 99; CREATE TABLE runs (x)`, "has the schema 99, and this pawl reads only 2; use the pawl that wrote it"},
		"older":    {`PRAGMA application_id = 0x5041574c; CREATE TABLE runs (x)`, "has the schema 0, and this pawl reads only 2; use the pawl that wrote it"},
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
	_, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Minute, New: true})
	must(t, err)
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
