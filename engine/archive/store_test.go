package archive_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/memory"
)

// A run comes back from an archive as it was.
func TestArchive(t *testing.T) {
	j := memory.New()
	agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil })}
	h, err := engine.New(j, nil).Start(t.Context(), agent, "go", &engine.StartOptions{ID: "a:b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	var head pawl.Head
	for head, err = range j.List(t.Context(), pawl.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	dir := archive.Dir(filepath.Join(root, "old"))
	name, err := archive.Save(t.Context(), j, head, dir)
	if err != nil || !regexp.MustCompile(`^\d{4}/\d\d/a:b\.jsonl\.gz$`).MatchString(name) {
		t.Fatalf("%q, %v", name, err)
	}
	if again, err := archive.Save(t.Context(), j, head, dir); err != nil || again != name {
		t.Errorf("again: %q, %v", again, err)
	}
	if left, err := filepath.Glob(filepath.Join(root, "old", "*", "*", "*")); err != nil || len(left) != 1 {
		t.Errorf("the archive has %q, %v", left, err)
	}
	if info, err := os.Stat(filepath.Join(root, "old", name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	r, err := dir.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	to := memory.New()
	if got, err := archive.Import(t.Context(), to, bytes.NewReader(data)); err != nil || got.Torn || got.Entries != head.Seq {
		t.Errorf("%+v, %v", got, err)
	}
	// A copy that was cut short or changed does not pass for a whole one.
	if got, err := archive.Import(t.Context(), memory.New(), bytes.NewReader(data[:len(data)/2])); err == nil && !got.Torn {
		t.Errorf("half of it: %+v", got)
	}
	for _, at := range []int{len(data) - 6, len(data) / 2} {
		bad := bytes.Clone(data)
		bad[at] ^= 0x55
		if _, err := archive.Import(t.Context(), memory.New(), bytes.NewReader(bad)); !errors.As(err, new(*archive.DamagedError)) {
			t.Errorf("changed at %d: %v", at, err)
		}
	}
	if _, err := dir.Get(t.Context(), "../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name that leads out: %v", err)
	}
	if _, err := dir.Get(t.Context(), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown name: %v", err)
	}
}
