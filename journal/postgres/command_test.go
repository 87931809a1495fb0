//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// here is the directory of this package, which tests leave.
var here, _ = os.Getwd()

// program builds the pawl command once and returns its path.
func program(t *testing.T) string {
	t.Helper()
	command.Do(func() {
		var dir string
		if dir, command.err = os.MkdirTemp("", "pawl-"); command.err != nil { //nolint:usetesting // it outlives the test
			return
		}
		command.path = filepath.Join(dir, "pawl")
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", command.path, "./pawl")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // the race detector needs cgo, and the command would be compiled once more
		build.Dir = filepath.Join(here, "..", "..", "cmd")
		if out, err := build.CombinedOutput(); err != nil {
			command.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if command.err != nil {
		t.Fatal(command.err)
	}
	return command.path
}

// command is the pawl command of all tests.
var command struct {
	sync.Once
	path string
	err  error
}
