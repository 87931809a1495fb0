package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Recovery is the result of [Recover].
type Recovery int

// The results: there was no unfinished apply; the apply had changed nothing, or could not be
// completed and was undone; it was completed.
const (
	Nothing Recovery = iota + 1
	Undone
	Completed
)

func (r Recovery) String() string {
	switch r {
	case Nothing:
		return "nothing"
	case Undone:
		return "undone"
	case Completed:
		return "completed"
	}
	return fmt.Sprintf("Recovery(%d)", int(r))
}

// Recover finishes an [Tree.Apply] whose process died. It may be called at any time and any
// number of times for a state directory. An error says why the project is still half
// changed, or why the apply was undone (Undone).
func Recover(stateDir string) (Recovery, error) {
	t, err := Open(stateDir)
	if err != nil {
		return 0, err
	}
	unlock, err := t.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	return t.recover()
}

// recoverApplies recovers the unfinished applies to a project, as far as their state directories
// are in dir. A copy of a half changed project would be useless.
func recoverApplies(dir, source string) error {
	states, err := States(dir)
	if err != nil {
		return err
	}
	for _, s := range states {
		t := &Tree{state: s.Dir}
		if _, err := os.Lstat(t.journalPath()); err != nil {
			continue
		}
		if err := t.loadRecord(); err != nil || t.record.Source != source {
			continue // another project, or unknown
		}
		// An error without a journal says that the apply was undone, since files had changed.
		_, err := Recover(s.Dir)
		if _, left := os.Lstat(t.journalPath()); err != nil && left == nil {
			return fmt.Errorf("an earlier fix of it died while it changed files, and neither finishing nor undoing that works: %w", err)
		}
	}
	return nil
}

func (t *Tree) recover() (Recovery, error) {
	var j journal
	err := readJSON(t.journalPath(), &j)
	if errors.Is(err, fs.ErrNotExist) {
		return Nothing, nil
	}
	if err != nil {
		return 0, fmt.Errorf("recover an apply: %w", err)
	}
	root, err := os.OpenRoot(t.record.Source)
	if err != nil {
		return 0, fmt.Errorf("recover an apply: %w", err)
	}
	defer root.Close()
	if !j.Committed {
		if err := t.forget(root, &j); err != nil {
			return 0, fmt.Errorf("recover an apply to %s: %w", t.record.Source, err)
		}
		return Undone, nil
	}
	if err := t.commit(root, &j); err != nil {
		return Undone, fmt.Errorf("complete an apply to %s: %w", t.record.Source, err)
	}
	return Completed, nil
}
