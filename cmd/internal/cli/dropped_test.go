package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestDropped: what a database lost with its process, or by damage, is said by
// the command that opens it.
func TestDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	j, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"a", "b", "c", "d", "e"} {
		if _, err := j.Claim(t.Context(), pawl.Claim{Run: run, TTL: time.Minute, New: true}); err != nil {
			t.Fatal(err)
		}
	}
	db, err1 := os.ReadFile(path)
	wal, err2 := os.ReadFile(path + "-wal")
	if err := errors.Join(err1, err2, j.Close()); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(wal)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		wal  []byte
		says string
	}{
		"whole":   {wal, ""},
		"torn":    {wal[:len(wal)-100], "of an incomplete write"},
		"damaged": {flipped, "are lost; restore it from a copy"},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(path + "-shm")
			if err := errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", c.wal, 0o600)); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			a := &app{console: console{err: &lockedWriter{w: &out}}, environment: environment{database: "sqlite:" + path}}
			j, err := a.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := out.String(); (got == "") != (c.says == "") || !strings.Contains(got, c.says) || c.says != "" && !strings.Contains(got, path) {
				t.Errorf("it says %q", got)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			out.Reset()
			if j, err = a.open(t.Context()); err != nil || out.Len() > 0 {
				t.Fatalf("the second time it says %q, %v", out.String(), err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
