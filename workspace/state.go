package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// statePrefix begins the name of every state directory.
const statePrefix = "pawl-tree-"

// A State is a state directory found by [States].
type State struct {
	Dir string
	At  time.Time // when anything was last made or removed directly in it
	// Whole is false while the copy is being made, and stays false if copying was interrupted.
	Whole bool
}

// States lists the state directories in a directory, which need not exist.
func States(dir string) ([]State, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []State
	for _, e := range all {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), statePrefix) {
			continue
		}
		if info, err := e.Info(); err == nil { // else it was removed meanwhile
			s := State{Dir: filepath.Join(dir, e.Name()), At: info.ModTime()}
			_, err := os.Lstat((&Tree{state: s.Dir}).recordPath())
			s.Whole = err == nil
			out = append(out, s)
		}
	}
	return out, nil
}

// Remove removes a state directory, complete or not. Like [Tree.Close] it refuses while an apply is
// unfinished.
func Remove(state string) error {
	if !strings.HasPrefix(filepath.Base(state), statePrefix) {
		return fmt.Errorf("%s is not a working copy", state)
	}
	return (&Tree{state: state}).Close()
}
