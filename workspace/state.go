package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// The files of a state directory.
const (
	recordFile    = "record.json"
	originalsFile = "originals.json"
	applyFile     = "apply.json" // the difference that is being applied
)

func (t *Tree) path(name string) string { return filepath.Join(t.state, name) }

// load reads a file of the state directory.
func (t *Tree) load(name string, v any) error {
	data, err := os.ReadFile(t.path(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", t.path(name), err)
	}
	return nil
}

// save writes a file of the state directory durably.
func (t *Tree) save(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.state)
	if err != nil {
		return err
	}
	defer root.Close()
	return replace(root, name, name+".new", &File{0o600, data})
}

// fsync is a variable because tests crash there and do not wait for the disk.
var fsync = (*os.File).Sync

// replace makes or replaces a file durably and atomically: after a crash there is the old or the new
// content. It writes the content to a temporary file first.
func replace(root *os.Root, name, temp string, f *File) error {
	if err := gone(root.Remove(temp)); err != nil { // left by a crash
		return err
	}
	out, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	if err = errors.Join(err, out.Chmod(f.Mode.Perm()), fsync(out), out.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return syncAbove(root, name)
}

// syncAbove makes what happened to a name durable. Some file systems cannot flush directories, and need not.
func syncAbove(root *os.Root, name string) error {
	for name != "." {
		name = path.Dir(name)
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		err = fsync(dir)
		_ = dir.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// gone ignores that a file is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
