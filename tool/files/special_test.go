//go:build linux || darwin

package files_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// special makes a pipe and, where one may, a device.
func special(t *testing.T, dir string) {
	t.Helper()
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	_ = unix.Mknod(filepath.Join(dir, "device"), unix.S_IFCHR|0o666, 1<<8|3)
}
