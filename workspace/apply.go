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

// ConflictError says that originals have changed since the copy was made. Nothing was written.
type ConflictError struct {
	Source string
	Paths  []string // in order
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s in %s changed since the working copy was made; nothing was written. Undo that, or apply the diff by hand",
		strings.Join(e.Paths, ", "), e.Source)
}

// Apply writes the changes to the original. If a path that it changes has another content
// than the old or the new one of the difference, it writes nothing and returns a
// [*ConflictError]. So applying a difference twice is the same as applying it once.
//
// Apply first writes the new contents and flushes them to disk: in the state directory, so
// that a crash leaves no trace in the project, or next to their targets (.pawl-*) if the
// project is on another file system. Then it records its intention in the state directory.
// Then it renames the files into place. A difference of one file is in the project or not
// at any moment. A crash between the renames of several files leaves a half changed
// project, which the next [Copy] of it, Apply or [Recover] completes; after a crash before
// the record they remove the temporary files. A failure without a crash is undone at once.
// Afterwards the changed files are the originals that [Tree.Diff] compares with.
//
// Apply writes only inside the project, whatever links it contains. The changed files belong to the
// caller's user and are new files, so that a hard link to an old one keeps the old content.
func (t *Tree) Apply(d Diff) error {
	unlock, err := t.lock()
	if err != nil {
		return fmt.Errorf("apply changes: %w", err)
	}
	defer unlock()
	if _, err := t.recover(); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.record.Source)
	if err != nil {
		return fmt.Errorf("apply changes: %w", err)
	}
	defer root.Close()
	j, err := t.prepare(root, d)
	if err != nil {
		return fmt.Errorf("apply changes to %s: %w", t.record.Source, err)
	}
	if len(j.Steps) == 0 {
		return t.rebase(j)
	}
	if err := t.perform(root, j); err != nil {
		return fmt.Errorf("apply changes to %s: %w", t.record.Source, err)
	}
	return nil
}

// prepare checks a difference against the original and plans the steps.
func (t *Tree) prepare(root *os.Root, d Diff) (*journal, error) {
	deleted := map[string]bool{}
	for _, c := range d.Changes {
		if err := t.check(c); err != nil {
			return nil, err
		}
		if !c.New.Exists() {
			deleted[c.Path] = true
		}
	}
	j := &journal{}
	conflict := &ConflictError{Source: t.record.Source}
	for i, c := range d.Changes {
		now, err := inspect(root, c.Path)
		if err != nil {
			return nil, err
		}
		clear, isDir := true, now.Mode == fs.ModeDir
		if c.New.Exists() {
			if clear, err = wayIsClear(root, c.Path, deleted); err != nil {
				return nil, err
			}
		}
		s := step{Path: c.Path, Old: c.Old, New: c.New}
		switch {
		case !clear:
			conflict.Paths = append(conflict.Paths, c.Path)
		case now == c.New, isDir && !c.New.Exists():
			j.Done = append(j.Done, s)
		case now == c.Old, isDir && !c.Old.Exists():
			if s.New.Exists() {
				blocked, err := ancestor(root, c.Path)
				if err != nil {
					return nil, err
				}
				s.Made = blocked
				beside := existing(c.Path, blocked)
				s.Temp = path.Join(beside, fmt.Sprintf(".pawl-%s-%d", filepath.Base(t.state), i))
				if t.far != looksFar && t.near(root, beside) {
					s.Stage = fmt.Sprintf("stage-%d", i)
				}
			}
			j.Steps = append(j.Steps, s)
		default:
			conflict.Paths = append(conflict.Paths, c.Path)
		}
	}
	if len(conflict.Paths) > 0 {
		slices.Sort(conflict.Paths)
		return nil, conflict
	}
	// Deletions first, since a new file may need the place of an old directory or the reverse.
	slices.SortStableFunc(j.Steps, func(a, b step) int {
		switch {
		case a.New.Exists() == b.New.Exists():
			return strings.Compare(a.Path, b.Path)
		case b.New.Exists():
			return -1
		}
		return 1
	})
	return j, nil
}

// check refuses changes that [Tree.Diff] does not make, since a difference may come from storage.
func (t *Tree) check(c Change) error {
	if !fs.ValidPath(c.Path) || !filepath.IsLocal(filepath.FromSlash(c.Path)) || c.Path == "." ||
		slices.Contains(strings.Split(strings.ToLower(c.Path), "/"), ".git") {
		return fmt.Errorf("%q is not the path of a file in the project", c.Path)
	}
	for _, f := range []File{c.Old, c.New} {
		if f.Exists() && (len(f.Digest) != 64 || strings.Trim(f.Digest, "0123456789abcdef") != "" || f.Mode&^(fs.ModePerm|fs.ModeSymlink) != 0) {
			return fmt.Errorf("%s: the change does not describe a file or link", c.Path)
		}
	}
	if c.New.isLink() {
		target, err := t.blobs().get(c.New.Digest)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		if why := leadsOut(c.Path, string(target)); why != "" {
			return fmt.Errorf("%s: %s", c.Path, why)
		}
	}
	return nil
}

// wayIsClear reports whether a file can be put at a path: the path is not a directory, and
// everything above it is a directory or missing, or the deletions will have made that so.
func wayIsClear(root *os.Root, name string, deleted map[string]bool) (bool, error) {
	blocked, err := ancestor(root, name)
	if err != nil {
		return false, err
	}
	if blocked != "" {
		_, err := root.Lstat(blocked)
		return errors.Is(err, fs.ErrNotExist) || deleted[blocked], nil
	}
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return true, nil
	}
	clear := true
	err = fs.WalkDir(root.FS(), name, func(below string, e fs.DirEntry, err error) error {
		clear = clear && (e.IsDir() || deleted[below])
		return err
	})
	return clear, err
}

// ancestor returns the first path above a path that is not a directory or does not exist; "": none.
func ancestor(root *os.Root, name string) (string, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || !info.IsDir() {
			return name[:i], nil
		}
	}
	return "", nil
}

// existing returns the nearest existing directory above a path, given the result of ancestor. A
// temporary file there is on the same file system as the path will be.
func existing(name, blocked string) string {
	if blocked != "" {
		return path.Dir(blocked)
	}
	return path.Dir(name)
}
