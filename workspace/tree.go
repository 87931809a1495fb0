// Package workspace gives a program a copy of a project directory to work in, tells how the copy has
// come to differ, and writes the differences back to the original in one step that either happens
// or does not.
//
// A tree lives in a state directory outside the project: the copy, a record of the originals, and
// the contents that a difference needs. Another process can [Open] it and go on.
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

// DefaultMaxBytes bounds a copy if Options does not: enough for a large project with its
// dependencies, too little for a home directory named by mistake.
const DefaultMaxBytes = 4 << 30

// Options are the choices that [Copy] and [Open] leave; nil is the same as the zero value.
type Options struct {
	// Dir is where state directories are made; empty is the system's place for temporary files.
	// It must not be inside the project.
	Dir string
	// Include says which slash-separated paths belong to the tree; nil takes all. It is asked for
	// directories too, and nothing below a refused one is looked at.
	Include func(path string) bool
	// SkipIgnored leaves out what git ignores. The default copies it, since tests may need what is
	// generated or installed there; in no case does it take part in a difference.
	SkipIgnored bool
	// Beside lists paths, relative to the project and slash-separated, that lead
	// out of it and must lead to the same place from the copy, such as ../lib. A
	// link stands there; of a directory above the project, links to all that is
	// in it but .git and the way to the project. The work in the copy can reach
	// the originals through them.
	Beside []string
	// MaxBytes bounds the size of the copy; zero is [DefaultMaxBytes].
	MaxBytes int64
}

// Tree is a working copy. Its methods must not be called concurrently, and one process at a time
// may use it.
type Tree struct {
	state   string
	record  record
	settled Recovery
	include func(string) bool
	hook    func() // tests crash here
	far     far    // tests pretend
}

// far pretends that the state directory is on another file system than the project.
type far int

const (
	looksFar    far = iota + 1
	turnsOutFar     // only when something is renamed
)

// LeftOut is a path that has no part in the tree, and why.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Copy makes a copy of the project in directory source.
//
// Directories, regular files with permissions and modification times, and relative symbolic links
// that stay inside are copied. Not copied are .git, and what [Tree.LeftOut] then lists: links that
// lead out (kept, they would let the work in the copy reach the original or anything else;
// followed, they would pull in what does not belong to the project), sockets, pipes and devices.
//
// Where the project belongs to a git repository and git is installed, what git ignores is marked,
// so that caches and build results never count as changes. A directory that git ignores and that
// holds much, such as installed packages, is not copied: a link to it stands there.
//
// If an earlier process died within [Tree.Apply] to the project, and its state directory is in the
// same directory as this one's, that is recovered first.
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
	settled, err := settle(filepath.Dir(state), source)
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	t := &Tree{state: state, include: o.Include, settled: settled}
	dir, err := surround(source, filepath.Join(state, "copy"), o.Beside)
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	at, err := filepath.Rel(state, dir)
	if err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	t.record = record{Version: recordVersion, Source: source, Copy: filepath.ToSlash(at), Files: map[string]entry{}, Originals: map[string]span{}}
	if err := t.fill(ctx, o); err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	if err := t.saveRecord(); err != nil {
		return nil, errors.Join(err, removeAll(state))
	}
	return t, nil
}

// makeState makes a fresh state directory.
func makeState(dir, source string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	// Looked at before anything is made there; what does not exist yet cannot be a link.
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

// copyName keeps the name of the project's directory, which some tools put into what they build.
func copyName(source string) string {
	name := filepath.Base(source)
	if name == string(filepath.Separator) || strings.ContainsAny(name, `/\:`) {
		return "project"
	}
	return name
}

// Open returns the tree whose state directory is given, as [Tree.StateDir] told it. Of the options
// only Include counts.
func Open(stateDir string, o *Options) (*Tree, error) {
	stateDir, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, err
	}
	t := &Tree{state: stateDir}
	if o != nil {
		t.include = o.Include
	}
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

// StateDir returns the directory that [Open] and [Recover] want.
func (t *Tree) StateDir() string { return t.state }

// Source returns the directory of the original.
func (t *Tree) Source() string { return t.record.Source }

// Settled says what [Copy] did before it copied, because an earlier process had died within
// [Tree.Apply] to the same project with a state directory beside this one; [Nothing] as a rule.
func (t *Tree) Settled() Recovery { return max(t.settled, Nothing) }

// LeftOut returns what [Copy] did not copy and why, in order. What was not asked for (.git, what
// Include refused, and what git ignores under SkipIgnored) is not listed.
func (t *Tree) LeftOut() []LeftOut { return t.record.LeftOut }

// Close removes the copy and all state. It refuses while an apply is unfinished, see [Recover].
func (t *Tree) Close() error {
	if _, err := os.Lstat(t.journalPath()); err == nil {
		return fmt.Errorf("close working copy %s: an apply to %s is unfinished; recover it first", t.state, t.record.Source)
	}
	// The record goes first: what is left if the removing is cut short must not look like a copy.
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
			_ = os.Chmod(path, 0o700) //nolint:gosec // a directory that is about to be removed must be enterable
			if err != nil {           // it could not be read before
				return filepath.SkipDir
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
