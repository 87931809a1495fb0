package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// ErrUnmarked says that no state of the copy was marked.
var ErrUnmarked = errors.New("no state of the working copy was marked")

// mark is a state of the copy: what differs from the originals.
type mark struct {
	Score float64         `json:"score"`
	Files map[string]File `json:"files"` // the zero File: deleted
}

func (t *Tree) marksPath() string { return filepath.Join(t.state, "marks.json") }

func (t *Tree) marks() ([]mark, error) {
	var all []mark
	err := readJSON(t.marksPath(), &all)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// Mark remembers the state of the copy for [Tree.Undo], and its score for [Tree.RestoreBest]; more is
// better. A state that equals the last marked one only gets the new score. [Tree.Apply] forgets the marks.
func (t *Tree) Mark(ctx context.Context, score float64) error {
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return fmt.Errorf("mark working copy %s: the score %v is not a number that can be stored", t.Dir(), score)
	}
	now, err := t.differs(ctx)
	if err != nil {
		return err
	}
	all, err := t.marks()
	if err != nil {
		return err
	}
	if last := len(all) - 1; last >= 0 && maps.Equal(all[last].Files, now) {
		all[last].Score = score
	} else {
		all = append(all, mark{score, now})
	}
	return writeJSON(t.marksPath(), all)
}

// differs is the state of the copy. Its new contents are stored.
func (t *Tree) differs(ctx context.Context) (map[string]File, error) {
	d, err := t.Diff(ctx)
	if err != nil {
		return nil, err
	}
	now := map[string]File{}
	for _, c := range d.Changes {
		now[c.Path] = c.New
	}
	return now, nil
}

// Undo takes the last change of the copy back: what was changed since the last marked state, or else
// the change from the marked state before to this one. The first change is that of the originals. Undo returns the
// paths that it changed, in order; none: the copy equals the originals, and there is nothing to undo.
// After a crash it may be called again.
func (t *Tree) Undo(ctx context.Context) ([]string, error) {
	now, err := t.differs(ctx)
	if err != nil {
		return nil, err
	}
	all, err := t.marks()
	if err != nil {
		return nil, err
	}
	for len(all) > 0 && maps.Equal(all[len(all)-1].Files, now) {
		all = all[:len(all)-1]
	}
	// The marks come first: if the restoring below is cut short, the copy differs from the last of them, and
	// the next call completes it.
	if err := writeJSON(t.marksPath(), all); err != nil {
		return nil, err
	}
	var to map[string]File
	if len(all) > 0 {
		to = all[len(all)-1].Files
	}
	return t.restore(now, to)
}

// RestoreBest makes the copy what it was in the marked state with the highest score, the first of
// several. It returns the score and the paths that it changed, in order. The state becomes the last
// marked one, so that [Tree.Undo] returns to the one before. If none was marked, the error is
// [ErrUnmarked].
func (t *Tree) RestoreBest(ctx context.Context) (float64, []string, error) {
	all, err := t.marks()
	if err != nil {
		return 0, nil, err
	}
	if len(all) == 0 {
		return 0, nil, ErrUnmarked
	}
	best := all[0]
	for _, m := range all[1:] {
		if m.Score > best.Score {
			best = m
		}
	}
	now, err := t.differs(ctx)
	if err != nil {
		return 0, nil, err
	}
	changed, err := t.restore(now, best.Files)
	if err == nil && !maps.Equal(all[len(all)-1].Files, best.Files) {
		err = writeJSON(t.marksPath(), append(all, best))
	}
	return best.Score, changed, err
}

// restore changes the files of the copy from one state to another.
func (t *Tree) restore(from, to map[string]File) ([]string, error) {
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	original := func(state map[string]File, name string) File {
		if f, differs := state[name]; differs {
			return f
		}
		return t.record.Files[name].File
	}
	names := maps.Clone(from)
	if names == nil {
		names = map[string]File{}
	}
	maps.Copy(names, to)
	var changed []string
	for name := range names {
		if original(from, name) != original(to, name) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	for _, name := range changed { // what is in the way goes first
		if original(from, name).Exists() {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("restore working copy %s: %w", t.Dir(), err)
			}
			for dir := path.Dir(name); dir != "." && !t.had(dir) && root.Remove(dir) == nil; dir = path.Dir(dir) {
				continue
			}
		}
	}
	for _, name := range changed {
		if err := t.putBack(root, name, original(to, name)); err != nil {
			return nil, fmt.Errorf("restore working copy %s: %s: %w", t.Dir(), name, err)
		}
	}
	return changed, nil
}

// had reports whether a directory was in the project when the copy was made. One that is empty and
// was not is left over from files that were made.
func (t *Tree) had(dir string) bool {
	info, err := os.Lstat(filepath.Join(t.record.Source, filepath.FromSlash(dir)))
	return err == nil && info.IsDir()
}

// putBack makes a file of the copy what it was in a state.
func (t *Tree) putBack(root *os.Root, name string, f File) error {
	if !f.Exists() {
		return nil
	}
	if !t.blobs().has(f.Digest) { // a large original
		source, err := os.OpenRoot(t.record.Source)
		if err != nil {
			return err
		}
		defer source.Close()
		if err := t.store(source, name, f); err != nil {
			return err
		}
	}
	if err := removeEmpty(root, name); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return t.write(root, name, f, func(*os.File) {})
}
