// Package workspace gives a program a copy of a project directory to work in, shows how the copy
// differs from the original, and writes the differences back atomically: all of them or none, even
// after a crash.
//
// [Copy] makes a [Tree], [Tree.Diff] returns its changes as a [Diff], and [Tree.Apply]
// writes them to the original. A tree lives in a state directory outside the project, which
// holds the copy, a record of the originals, and the contents that a difference needs.
// Another process can [Open] it and continue.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxBytes bounds a copy: enough for a large project with its dependencies, too little for a home
// directory named by mistake. It is a variable because tests lower it.
var maxBytes int64 = 4 << 30

// Options are the options of [Copy]; nil is the zero value.
type Options struct {
	// Dir is where state directories are made; empty: the system's directory for temporary files.
	// It must not be inside the project.
	Dir string
	// Beside lists paths, relative to the project and slash-separated, that lead out of it and must
	// lead to the same place from the copy, such as ../lib. The copy gets a link for each; for a
	// directory above the project it gets links to all its entries except .git and the way to the
	// project. Programs in the copy can reach the originals through these links.
	Beside []string
	// History makes the copy a git repository with the history, index and refs of the project's, if
	// the project is the top of a work tree and git is installed. Git does not write to the project
	// through it.
	History bool
}

// Tree is a working copy. Its methods must not be called concurrently, and only one process
// may use it at a time.
type Tree struct {
	state  string
	record record
	hook   func() // tests crash here
	far    far    // tests pretend
}

// far pretends that the state directory is on another file system than the project.
type far int

const (
	looksFar    far = iota + 1
	turnsOutFar     // only when something is renamed
)

// LeftOut is a path that does not belong to the tree, and why.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Copy makes a copy of the project in directory source.
//
// It copies directories, regular files with permissions and modification times, and
// relative symbolic links that stay inside. It does not copy .git (but see History), sockets, pipes, devices,
// and links that lead out: a link kept would let programs in the copy change the original,
// and a link followed would copy what does not belong to the project. [Tree.LeftOut] lists
// what was not copied, except .git.
//
// If the project belongs to a git repository and git is installed, files that git ignores
// are copied, since tests may need what is generated or installed, and never count as changes. A large directory
// that git ignores, such as installed packages, is replaced by a link to the original.
//
// If an earlier process died within [Tree.Apply] to the project, and its state directory is in the
// same directory as this one's, Copy recovers that first.
func Copy(ctx context.Context, source string, o *Options) (*Tree, error) {
	t, err := copyTree(ctx, source, o)
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", source, err)
	}
	return t, nil
}

func copyTree(ctx context.Context, source string, o *Options) (*Tree, error) {
	if o == nil {
		o = &Options{}
	}
	source, err := filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	if source, err = filepath.EvalSymlinks(source); err != nil {
		return nil, err
	}
	if info, err := os.Stat(source); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New("it is a file; name the project's directory")
	}
	state, err := makeState(o.Dir, source)
	if err != nil {
		return nil, err
	}
	if err := recoverApplies(filepath.Dir(state), source); err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	t := &Tree{state: state}
	dir, err := surround(source, filepath.Join(state, "copy"), o.Beside)
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	at, err := filepath.Rel(state, dir)
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	t.record = record{Version: recordVersion, Source: source, Copy: filepath.ToSlash(at), Files: map[string]entry{}, Originals: map[string]span{}}
	err = t.fill(ctx)
	if err == nil && o.History {
		err = t.history(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	if err := t.saveRecord(); err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	return t, nil
}

// makeState makes a new state directory.
func makeState(dir, source string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	// Resolve links before making anything; a directory that does not exist cannot be a link.
	real := dir
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		real = r
	}
	if real == source || strings.HasPrefix(real, strings.TrimSuffix(source, string(filepath.Separator))+string(filepath.Separator)) {
		return "", fmt.Errorf("the copy would be made in %s, which is inside it; choose a directory outside, for instance with TMPDIR", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, statePrefix) // mode 0700: a project may hold secrets
}

// copyName returns the name of the project's directory, which some tools put into their results.
func copyName(source string) string {
	name := filepath.Base(source)
	if name == string(filepath.Separator) || strings.ContainsAny(name, `/\:`) {
		return "project"
	}
	return name
}

// Open returns the tree with a state directory, as returned by [Tree.StateDir].
func Open(stateDir string) (*Tree, error) {
	stateDir, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, err
	}
	t := &Tree{state: stateDir}
	if err := t.loadRecord(); err != nil {
		return nil, fmt.Errorf("open working copy %s: %w", stateDir, err)
	}
	if _, err := os.Stat(t.Dir()); err != nil {
		return nil, fmt.Errorf("open working copy %s: %w", stateDir, err)
	}
	return t, nil
}

// Dir returns the directory of the copy.
func (t *Tree) Dir() string { return filepath.Join(t.state, filepath.FromSlash(t.record.Copy)) }

// StateDir returns the directory for [Open] and [Recover].
func (t *Tree) StateDir() string { return t.state }

// Source returns the directory of the original.
func (t *Tree) Source() string { return t.record.Source }

// LeftOut returns what [Copy] did not copy and why, in order. It does not list .git.
func (t *Tree) LeftOut() []LeftOut { return t.record.LeftOut }

// Close removes the copy and all state. It fails while an apply is unfinished; see [Recover].
func (t *Tree) Close() error {
	if _, err := os.Lstat(t.journalPath()); err == nil {
		return fmt.Errorf("close working copy %s: an apply to %s is unfinished; recover it first", t.state, t.record.Source)
	}
	// Remove the record first: if removal is interrupted, the rest must not look like a copy.
	if err := os.Remove(t.recordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeAll(t.state)
}

// removeAll removes a directory even if directories in it forbid writing.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // the directory must be readable to be removed
			if err != nil {           // it was not readable before
				return filepath.SkipDir
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
