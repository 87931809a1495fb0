package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"syscall"
)

// fsync is a variable because tests with hundreds of applies would otherwise wait for the disk.
var fsync = (*os.File).Sync

// syncDirs makes renames and removals durable.
func syncDirs(root *os.Root, j *journal) error {
	dirs := map[string]bool{}
	for _, s := range j.Steps {
		for dir := path.Dir(s.Path); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		f, err := root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue // pruned, or a file now
		}
		if err != nil {
			return err
		}
		if err := syncDir(f); err != nil {
			return err
		}
	}
	return nil
}

// syncDir flushes an open directory and closes it. Some file systems do not support that,
// and do not need it.
func syncDir(f *os.File) error {
	defer f.Close()
	if err := fsync(f); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
