package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Recovery is what [Recover] found to do.
type Recovery int

// What was found: no unfinished apply; one of which nothing had reached the project, or that could
// not be completed and was taken back; one that was completed.
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

// Recover finishes what a process left undone that died within [Tree.Apply]. It may be called at
// any time and any number of times for a state directory. An error says why the project is in
// between still, or was taken back to what it was before (Undone).
func Recover(stateDir string) (Recovery, error) {
	t, err := Open(stateDir, nil)
	if err != nil {
		return 0, err
	}
	return t.recover()
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
