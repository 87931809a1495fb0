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
	"syscall"
)

// journal is the intention of an apply, stored as apply.json in the state directory meanwhile.
type journal struct {
	// Committed says that all contents are on disk, so the steps are to be completed. Before that,
	// only temporary files may exist.
	Committed bool   `json:"committed"`
	Steps     []step `json:"steps"`
	// Done are changes that the original already had.
	Done []step `json:"done,omitempty"`
}

// step replaces the content of one path.
type step struct {
	Path string `json:"path"`
	Temp string `json:"temp,omitempty"`
	// Stage is a name in the state directory, used instead of Temp if renaming from there works.
	Stage string `json:"stage,omitempty"`
	Made  string `json:"made,omitempty"` // the topmost directory that was made for the path
	Old   File   `json:"old"`
	New   File   `json:"new"`
}

func (t *Tree) journalPath() string { return filepath.Join(t.state, "apply.json") }

// perform carries out a journal. If it fails, nothing has changed.
func (t *Tree) perform(root *os.Root, j *journal) error {
	if err := writeJSON(t.journalPath(), j); err != nil {
		return err
	}
	t.point()
	if err := t.stage(root, j); err != nil {
		return errors.Join(err, t.forget(root, j))
	}
	j.Committed = true
	if err := writeJSON(t.journalPath(), j); err != nil {
		return errors.Join(err, t.forget(root, j))
	}
	t.point()
	return t.commit(root, j)
}

// stage stores old and new contents durably and writes the temporary files, so that a full disk is
// noticed before anything has changed.
func (t *Tree) stage(root *os.Root, j *journal) error {
	var digests []string
	for _, s := range j.Steps {
		if s.Old.Exists() && !t.blobs().has(s.Old.Digest) { // a large original
			if err := t.store(root, s.Path, s.Old); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
		}
		for _, f := range []File{s.Old, s.New} {
			if f.Exists() {
				digests = append(digests, f.Digest)
			}
		}
	}
	if err := t.blobs().sync(digests); err != nil {
		return err
	}
	for _, s := range j.Steps {
		if s.New.Exists() {
			if err := t.prestage(root, s); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
			t.point()
		}
	}
	return nil
}

// commit completes a committed journal, or undoes it if it cannot be completed.
func (t *Tree) commit(root *os.Root, j *journal) error {
	if err := t.complete(root, j); err != nil {
		if undo := t.undo(root, j); undo != nil {
			return errors.Join(err, fmt.Errorf("and taking it back failed, so the project is in between: %w", undo))
		}
		return errors.Join(err, t.forget(root, j))
	}
	if err := t.rebase(j); err != nil {
		return err // the journal remains, so the next call tries again
	}
	t.point()
	return t.forget(root, j)
}

// rebase makes the current content of the original the base of later differences. Marked states
// are differences from the old base.
func (t *Tree) rebase(j *journal) error {
	if err := os.Remove(t.marksPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, s := range slices.Concat(j.Done, j.Steps) {
		if s.New.Exists() {
			t.record.Files[s.Path] = entry{File: s.New}
		} else {
			delete(t.record.Files, s.Path)
		}
	}
	return t.saveRecord()
}

// forget removes temporary files and then the journal.
func (t *Tree) forget(root *os.Root, j *journal) error {
	for _, s := range j.Steps {
		if s.Stage != "" && filepath.IsLocal(s.Stage) {
			if err := os.Remove(filepath.Join(t.state, s.Stage)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if s.Temp == "" || !strings.HasPrefix(path.Base(s.Temp), ".pawl-") {
			continue
		}
		if err := root.Remove(s.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return os.Remove(t.journalPath())
}

func (t *Tree) point() {
	if t.hook != nil {
		t.hook()
	}
}
