package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/workspace"
)

// Copies are kept for a week after their run was last resumed, and the latest ten for longer. One
// that was never completed is removed, unless it may still be.
func TestPrune(t *testing.T) {
	dir, now, names := t.TempDir(), time.Now(), map[string]string{}
	const day = 24 * time.Hour
	add := func(name string, ago time.Duration) string {
		c, err := workspace.Copy(t.Context(), t.TempDir(), &workspace.Options{Dir: dir})
		if err == nil {
			err = os.Chtimes(c.StateDir(), now, now.Add(-ago))
		}
		if err != nil {
			t.Fatal(err)
		}
		names[c.StateDir()] = name
		return c.StateDir()
	}
	for name, ago := range map[string]time.Duration{"young": time.Hour, "abandoned": day} {
		state := add(name, 0)
		if err := errors.Join(os.Remove(filepath.Join(state, "record.json")), os.Chtimes(state, now, now.Add(-ago))); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"resumed", "young"}
	for n := range mostCopies + 3 {
		name := fmt.Sprintf("%02d", n)
		add(name, time.Duration(n+6)*day-time.Hour)
		if n < mostCopies-2 {
			want = append(want, name)
		}
	}
	claimCopy(add("resumed", 50*day), "01RUN")
	prune(&console{err: &lockedWriter{w: io.Discard}}, dir, now)
	left, err := workspace.States(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range left {
		got = append(got, names[s.Dir])
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
