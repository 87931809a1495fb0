// Package check has what the tests of every package assert. It imports nothing of ours.
package check

import (
	"os"
	"path/filepath"
	"testing"
)

// Must ends a test at an error that it does not expect.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write writes files, with the directories that they are in, below a directory.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		Must(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// SkipShort skips a test under -short, and says why.
func SkipShort(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}
