package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// complete performs the remaining steps, in order.
func (t *Tree) complete(root *os.Root, j *journal) error {
	for _, s := range j.Steps {
		now, err := inspect(root, s.Path)
		switch {
		case err != nil:
			return err
		case now == s.New, now.Mode == fs.ModeDir && !s.New.Exists():
			continue
		case now != s.Old && now.Mode != fs.ModeDir, now.Mode == fs.ModeDir && s.Old.Exists():
			return &ConflictError{Source: t.record.Source, Paths: []string{s.Path}}
		case !s.New.Exists():
			if err := root.Remove(s.Path); err != nil {
				return err
			}
			t.prune(root, s.Path)
		default:
			if err := t.place(root, s); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
		}
		t.point()
	}
	return syncDirs(root, j)
}

// place puts a new content at its path. After a crash of the system the temporary file may
// be gone or damaged.
func (t *Tree) place(root *os.Root, s step) error {
	if err := t.prestage(root, s); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(s.Path), 0o777); err != nil {
		return err
	}
	if err := removeEmpty(root, s.Path); err != nil {
		return err
	}
	t.point()
	if s.Stage != "" {
		err := errFar
		if t.far != turnsOutFar {
			err = t.moveIn(s.Stage, root, s.Path)
		}
		if !errors.Is(err, errFar) {
			return err
		}
		if err := t.rewrite(root, s.Temp, root, s); err != nil {
			return err
		}
	}
	return root.Rename(s.Temp, s.Path)
}

// errFar says that a file cannot be renamed from the state directory to its path.
var errFar = errors.New("the state directory is on another file system than the project")

// prestage writes the new content of a step to its staged file, unless it is there.
func (t *Tree) prestage(root *os.Root, s step) error {
	if s.Stage == "" {
		return t.rewrite(root, s.Temp, root, s)
	}
	state, err := os.OpenRoot(t.state)
	if err != nil {
		return err
	}
	defer state.Close()
	return t.rewrite(state, s.Stage, root, s)
}

// rewrite writes the new content of a step to a file in a directory, unless it is there.
func (t *Tree) rewrite(in *os.Root, name string, root *os.Root, s step) error {
	if staged, err := inspect(in, name); err == nil && staged == s.New {
		return nil
	}
	return t.write(in, name, s.New, func(f *os.File) { inherit(f, root, s.Path) })
}

// removeEmpty removes a directory that contains no file. It ignores anything else.
func removeEmpty(root *os.Root, name string) error {
	info, err := root.Lstat(name) // WalkDir would follow a link
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	var dirs []string
	err = fs.WalkDir(root.FS(), name, func(below string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, below)
		}
		return err
	})
	for _, dir := range slices.Backward(dirs) {
		err = errors.Join(err, root.Remove(dir))
	}
	return err
}

// prune removes the empty directories above a deleted file that the copy does not have. A directory
// that holds anything, for instance ignored files, stays.
func (t *Tree) prune(root *os.Root, name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(t.Dir(), filepath.FromSlash(dir))); err == nil && info.IsDir() {
			return
		}
		if root.Remove(dir) != nil {
			return
		}
	}
}

// undo restores what completed steps replaced, last first. It leaves files that have changed since.
func (t *Tree) undo(root *os.Root, j *journal) error {
	var errs []error
	for _, s := range slices.Backward(j.Steps) {
		now, err := inspect(root, s.Path)
		ours := now == s.New || now.Mode == fs.ModeDir && !s.New.Exists()
		switch {
		case err != nil || !ours:
		case s.Old.Exists():
			var blocked string
			if blocked, err = ancestor(root, s.Path); err != nil {
				break
			}
			back := step{Path: s.Path, New: s.Old}
			back.Temp = path.Join(existing(s.Path, blocked), ".pawl-undo-"+filepath.Base(t.state))
			err = t.place(root, back)
		default:
			err = root.Remove(s.Path)
		}
		for dir := path.Dir(s.Path); s.Made != "" && strings.HasPrefix(dir+"/", s.Made+"/"); dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break // not made yet, or in use
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Path, err))
		}
	}
	return errors.Join(errs...)
}

// write makes a new file or link from a stored content. It passes a file to prepare before
// flushing it.
func (t *Tree) write(root *os.Root, name string, f File, prepare func(*os.File)) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.isLink() {
		target, err := t.blobs().get(f.Digest)
		if err != nil {
			return err
		}
		return root.Symlink(string(target), name)
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = t.blobs().copyTo(out, f.Digest)
	prepare(out) // before the permissions, since changing the group may clear some
	return errors.Join(err, out.Chmod(f.Mode.Perm()), fsync(out), out.Close())
}
