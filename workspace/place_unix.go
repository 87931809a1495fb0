//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// near reports whether a directory of the project seems to be on the file system of the state
// directory, so that a file can be renamed from here to there.
func (t *Tree) near(root *os.Root, dir string) bool {
	here, err := os.Stat(t.state)
	if err != nil {
		return false
	}
	there, err := root.Stat(dir)
	if err != nil {
		return false
	}
	a, ok := here.Sys().(*syscall.Stat_t)
	b, too := there.Sys().(*syscall.Stat_t)
	return ok && too && a.Dev == b.Dev
}

// moveIn renames a file of the state directory to a path of the project. It returns errFar if they
// are on different file systems after all, as with bind mounts.
func (t *Tree) moveIn(staged string, root *os.Root, name string) error {
	state, err := os.Open(t.state)
	if err != nil {
		return err
	}
	defer state.Close()
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	err = unix.Renameat(int(state.Fd()), staged, int(dir.Fd()), path.Base(name))
	if errors.Is(err, unix.EXDEV) {
		return errFar
	}
	if err != nil {
		return fmt.Errorf("rename into %s: %w", name, err)
	}
	return nil
}

// inherit gives a staged file the group that it would have in its final place: that of the file it
// replaces, or of a directory that passes its group on.
func inherit(staged *os.File, root *os.Root, name string) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		if info, err = root.Stat(path.Dir(name)); err != nil || info.Mode()&fs.ModeSetgid == 0 {
			return
		}
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = staged.Chown(-1, int(s.Gid)) // fails unless the user is a member of the group, who alone could set it
	}
}

// lock waits until no other process applies from this state directory. The system releases the lock
// when the process ends.
func (t *Tree) lock() (unlock func(), err error) {
	f, err := os.Open(t.state)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.ENOLCK) {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", t.state, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}
