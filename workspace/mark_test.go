package workspace

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Random changes are marked one after the other and taken back one by one. What was best is restored from
// wherever the copy is.
func TestMarks(t *testing.T) {
	large := strings.Repeat("a line\n", textLimit/7+1)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tree := project(t, files{"a.txt": "a\n", "dir/b.txt": "b\n", "dir/c": "-> b.txt", "run": "+x run\n", "large": large, "empty/": ""})
		states := []files{read(t, tree.Dir())}
		for range 4 {
			randomEdits(t, rng, tree.Dir())
			if rng.IntN(2) == 0 {
				put(t, tree.Dir(), "large", "small now\n")
			}
			must(t, tree.Mark(t.Context(), float64(rng.IntN(3))))
			if state := read(t, tree.Dir()); !maps.Equal(state, states[len(states)-1]) {
				states = append(states, state)
			}
		}
		put(t, tree.Dir(), "unmarked/new.txt", "new\n")
		for _, state := range slices.Backward(states) {
			_, err := tree.Undo(t.Context())
			must(t, err)
			equal(t, state, read(t, tree.Dir()))
		}
		if changed, err := tree.Undo(t.Context()); err != nil || changed != nil {
			t.Errorf("seed %d: there is nothing to undo: %q, %v", seed, changed, err)
		}
	}
}

func TestRestoreBest(t *testing.T) {
	tree := project(t, files{"a": "0\n", "b/c": "0\n"})
	if _, _, err := tree.RestoreBest(t.Context()); !errors.Is(err, ErrUnmarked) {
		t.Errorf("nothing is marked: %v", err)
	}
	if err := tree.Mark(t.Context(), math.NaN()); err == nil {
		t.Error("a score that is no number was taken")
	}
	for i, score := range []float64{1, 3, 3, 2} {
		put(t, tree.Dir(), "a", strings.Repeat("x", i))
		put(t, tree.Dir(), "b", strings.Repeat("y", i))
		must(t, tree.Mark(t.Context(), score))
	}
	// Another process goes on with the copy, in a state that is not marked.
	tree, err := Open(tree.StateDir())
	must(t, err)
	put(t, tree.Dir(), "d/e", "lost")
	score, changed, err := tree.RestoreBest(t.Context())
	must(t, err)
	equal(t, 3, score)
	equal(t, []string{"a", "b", "d/e"}, changed)
	equal(t, files{"a": "x", "b": "y"}, read(t, tree.Dir()))
	if _, err := os.Lstat(filepath.Join(tree.Dir(), "d")); err == nil {
		t.Error("a directory is left over")
	}
	_, err = tree.Undo(t.Context())
	must(t, err)
	equal(t, files{"a": "xxx", "b": "yyy"}, read(t, tree.Dir()))

	// An interrupted restoring is completed by the next call, which goes no further.
	must(t, os.WriteFile(tree.marksPath(), []byte(`[]`), 0o600))
	changed, err = tree.Undo(t.Context())
	must(t, err)
	equal(t, []string{"a", "b", "b/c"}, changed)
	equal(t, files{"a": "0\n", "b/c": "0\n"}, read(t, tree.Dir()))

	put(t, tree.Dir(), "a", "applied\n")
	must(t, tree.Mark(t.Context(), 1))
	must(t, tree.Apply(difference(t, tree)))
	if _, _, err := tree.RestoreBest(t.Context()); !errors.Is(err, ErrUnmarked) {
		t.Errorf("marks remain after an apply: %v", err)
	}
}
