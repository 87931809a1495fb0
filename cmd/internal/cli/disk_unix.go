//go:build linux || darwin

package cli

import "golang.org/x/sys/unix"

// freeSpace is how many bytes this user may still write to the file system of a directory; false:
// it does not say.
func freeSpace(dir string) (n uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
