//go:build !linux && !darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"
)

func run(_ context.Context, c Command) (Exit, error) {
	return Exit{}, &StartError{
		Program: c.Argv[0],
		Reason:  "commands cannot be run safely on " + runtime.GOOS + "; Linux and macOS can",
		Err:     errors.ErrUnsupported,
	}
}

// End always fails on this system.
func (id Identity) End(time.Duration) error { return unsupported() }

func lookUp(int) (uint64, bool, error) { return 0, false, unsupported() }

func bootID() (string, error) { return "", unsupported() }

func isNotExist(error) bool { return false }

func unsupported() error {
	return fmt.Errorf("processes cannot be identified on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Locate always fails on this system.
func Locate(Command) (string, error) { return "", unsupported() }

// Respawn always fails on this system.
func Respawn(string) (io.WriteCloser, io.ReadCloser, error) { return nil, nil, unsupported() }

func lock(*os.File, bool) (bool, error) { return false, unsupported() }

// FileIdentity returns "" on this system, which runs no commands.
func FileIdentity(fs.FileInfo) string { return "" }
