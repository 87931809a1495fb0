// Package workspace gives an agent a copy of a project directory to edit, shows how the edited files
// differ from the originals, and writes the difference back: all of it or nothing, even after a crash.
//
// [Copy] makes a [Tree]. [Tree.Keep] keeps the original of a file that is about to be edited,
// [Tree.Diff] compares the files that were kept with their originals, and [Tree.Apply] writes the
// difference to the project. A tree lives in a state directory outside the project. Another process
// can [Open] it and continue.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options are the options of [Copy]; nil is the zero value.
type Options struct {
	// Dir is where state directories are made; empty: the system's directory for temporary files.
	// It must not be inside the project.
	Dir string
	// Place is the path of the copy below its state directory; empty: copy.
	Place string
}

// Tree is a working copy. Its methods must not be called concurrently.
type Tree struct {
	state     string
	record    record
	originals map[string]*File // of the files that may be edited; nil: the file is new
}

// record describes a complete copy.
type record struct {
	Source  string            `json:"source"`
	Place   string            `json:"place"` // of the copy, below the state directory
	Files   map[string]string `json:"files"` // the digest of every regular file
	LeftOut []string          `json:"left_out,omitempty"`
}

// Copy makes a copy of the project in directory source.
//
// It copies directories, regular files with permissions and modification times, and
// relative symbolic links that stay inside. It does not copy .git, sockets, pipes, devices,
// and links that lead out: a link kept would let programs in the copy change the original,
// and a link followed would copy what does not belong to the project.
//
// If the project belongs to a git repository and git is installed, a large directory that git ignores,
// such as installed packages, is replaced by a link to the original.
func Copy(ctx context.Context, source string, o *Options) (*Tree, error) {
	o = cmp.Or(o, &Options{})
	source, err := filepath.Abs(source)
	if err == nil {
		source, err = filepath.EvalSymlinks(source)
	}
	if err != nil {
		return nil, err
	}
	t := &Tree{originals: map[string]*File{}, record: record{Source: source, Place: cmp.Or(o.Place, "copy"), Files: map[string]string{}}}
	if t.state, err = makeState(o.Dir, source); err == nil {
		if err = t.fill(ctx); err == nil {
			err = t.save(recordFile, &t.record)
		}
		if err != nil {
			err = errors.Join(err, removeAll(t.state))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", source, err)
	}
	return t, nil
}

// statePrefix begins the name of every state directory.
const statePrefix = "pawl-tree-"

// makeState makes a new state directory.
func makeState(dir, source string) (string, error) {
	dir, err := filepath.Abs(cmp.Or(dir, os.TempDir()))
	if err != nil {
		return "", err
	}
	// Resolve links before making anything; a directory that does not exist cannot be a link.
	real := dir
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		real = r
	}
	if rel, err := filepath.Rel(source, real); err == nil && filepath.IsLocal(rel) {
		return "", fmt.Errorf("the copy would be made in %s, which is inside it; choose a directory outside, for instance with TMPDIR", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, statePrefix) // mode 0700: a project may hold secrets
}

// Open returns the tree with a state directory, as returned by [Tree.StateDir]. If an earlier process
// died within [Tree.Apply], Open completes that. It fails if the apply had to be undone.
func Open(stateDir string) (*Tree, error) {
	t := &Tree{state: stateDir, originals: map[string]*File{}}
	err := t.load(recordFile, &t.record)
	if err == nil {
		err = gone(t.load(originalsFile, &t.originals))
	}
	if err == nil && t.applying() {
		err = t.inProject(t.complete)
	}
	if err != nil {
		return nil, fmt.Errorf("open working copy %s: %w", stateDir, err)
	}
	return t, nil
}

// Dir returns the directory of the copy.
func (t *Tree) Dir() string { return filepath.Join(t.state, t.record.Place) }

// StateDir returns the directory for [Open].
func (t *Tree) StateDir() string { return t.state }

// Source returns the directory of the original.
func (t *Tree) Source() string { return t.record.Source }

// LeftOut returns the paths that [Copy] did not copy, except .git, each with the reason.
func (t *Tree) LeftOut() []string { return t.record.LeftOut }

// Close removes the copy and all state. It fails while an apply is unfinished.
func (t *Tree) Close() error {
	if t.applying() {
		return fmt.Errorf("close working copy %s: its change is half applied to the project", t.state)
	}
	// Remove the record first: if removal is interrupted, the rest must not look like a copy.
	if err := gone(os.Remove(t.path(recordFile))); err != nil {
		return err
	}
	return removeAll(t.state)
}

// removeAll removes a directory even if directories in it forbid writing.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // nothing can be removed from it otherwise
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Prune completes every [Tree.Apply] from a state directory in dir whose process died. Then it removes
// state directories: those that were not used for a week, except for the latest few, and copies that were
// never completed. A change of its time uses a state directory.
func Prune(dir string, now time.Time) error {
	const kept, latest, made = 7 * 24 * time.Hour, 10, 6 * time.Hour
	entries, err := os.ReadDir(dir)
	err = gone(err)
	var states []fs.FileInfo
	for _, e := range entries {
		if info, bad := e.Info(); bad == nil && e.IsDir() && strings.HasPrefix(e.Name(), statePrefix) {
			states = append(states, info)
		}
	}
	slices.SortFunc(states, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, s := range states {
		t := &Tree{state: filepath.Join(dir, s.Name())}
		if t.applying() {
			_, bad := Open(t.state)
			err = errors.Join(err, bad)
		}
		_, incomplete := os.Lstat(t.path(recordFile))
		if age := now.Sub(s.ModTime()); age > kept && i >= latest || age > made && incomplete != nil {
			err = errors.Join(err, t.Close())
		}
	}
	return err
}
