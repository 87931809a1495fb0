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
// Apply first stores the difference durably in the state directory. After a crash the next [Open], [Prune]
// or Apply completes it from there. A failure without a crash is undone at once. Each file
// is written beside its target (.pawl-tree-*) and renamed into place.
//
// Apply writes only inside the project, whatever links it contains. The changed files belong to the
// caller's user and are new files, so that a hard link to an old one keeps the old content.
func (t *Tree) Apply(d Diff) error {
	return t.inProject(func(root *os.Root) error {
		if err := t.complete(root); err != nil { // of an earlier call
			return err
		}
		todo, err := t.plan(root, d)
		if err != nil || todo.Empty() {
			return err
		}
		if err := t.save(applyFile, todo); err != nil {
			return errors.Join(err, gone(os.Remove(t.path(applyFile))))
		}
		return t.complete(root)
	})
}

// applying reports whether a difference is being applied, or was when the process died.
func (t *Tree) applying() bool {
	_, err := os.Lstat(t.path(applyFile))
	return err == nil
}

// inProject runs f on the project while no other process applies from this state directory.
func (t *Tree) inProject(f func(*os.Root) error) error {
	state, err := os.Open(t.state)
	if err != nil {
		return err
	}
	defer state.Close()
	lock(state)
	root, err := os.OpenRoot(t.record.Source)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := f(root); err != nil {
		return fmt.Errorf("apply changes to %s: %w", t.record.Source, err)
	}
	return nil
}

// plan checks a difference against the original and returns what is to be done of it.
func (t *Tree) plan(root *os.Root, d Diff) (todo Diff, err error) {
	conflict := &ConflictError{Source: t.record.Source}
	for _, c := range d.Changes {
		if !fs.ValidPath(c.Path) || slices.Contains(strings.Split(strings.ToLower(c.Path), "/"), ".git") { // it may come from storage
			return todo, fmt.Errorf("%q is not the path of a file in the project", c.Path)
		}
		now, err := readFile(root, c.Path)
		switch {
		case err != nil && !errors.Is(err, errIrregular):
			return todo, fmt.Errorf("%s: %w", c.Path, err)
		case err == nil && same(now, c.New):
		case err == nil && same(now, c.Old):
			todo.Changes = append(todo.Changes, c)
		default:
			conflict.Paths = append(conflict.Paths, c.Path)
		}
	}
	if len(conflict.Paths) > 0 {
		return todo, conflict
	}
	return todo, nil
}

// complete makes those changes of the stored difference that are not made, or undoes all of them if that
// fails. If undoing fails, too, the stored difference stays.
func (t *Tree) complete(root *os.Root) error {
	var d Diff
	if err := gone(t.load(applyFile, &d)); err != nil { // there may be none
		return err
	}
	err := t.change(root, d.Changes)
	if err != nil {
		if undo := t.undo(root, d.Changes); undo != nil {
			return errors.Join(err, fmt.Errorf("and taking it back failed, so the project is in between: %w", undo))
		}
	}
	return errors.Join(err, gone(os.Remove(t.path(applyFile))))
}

func (t *Tree) change(root *os.Root, changes []Change) error {
	for _, c := range changes {
		now, err := readFile(root, c.Path)
		switch {
		case err == nil && same(now, c.New):
			continue
		case err == nil && !same(now, c.Old):
			return &ConflictError{t.record.Source, []string{c.Path}}
		case err == nil:
			err = t.put(root, c.Path, c.New)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	return nil
}

// undo takes changes back, last first. It leaves files that somebody else has changed.
func (t *Tree) undo(root *os.Root, changes []Change) (err error) {
	for _, c := range slices.Backward(changes) {
		err = errors.Join(err, gone(root.Remove(t.temporary(c.Path))))
		if now, bad := readFile(root, c.Path); bad == nil && same(now, c.New) {
			err = errors.Join(err, t.put(root, c.Path, c.Old))
		}
		for dir := path.Dir(c.Path); c.Old == nil && dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
			continue // it was made for the file, or was empty
		}
	}
	return err
}

// put puts a file at a path; nil removes the one that is there.
func (t *Tree) put(root *os.Root, name string, f *File) error {
	if f == nil {
		return errors.Join(root.Remove(name), syncAbove(root, name))
	}
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	return replace(root, name, t.temporary(name), f)
}

// temporary returns the name of the temporary file for a path, on the same file system.
func (t *Tree) temporary(name string) string {
	return path.Join(path.Dir(name), "."+filepath.Base(t.state))
}
