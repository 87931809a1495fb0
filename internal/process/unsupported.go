//go:build !linux && !darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// Line is unusable on this system.
type Line struct{}

// Respawn always fails on this system.
func Respawn(string) (*Line, error) { return nil, unsupported() }

// Respawned is always false on this system.
func Respawned(string) (*Line, bool) { return nil, false }

// Dial always fails on this system.
func (l *Line) Dial() (net.Conn, error) { return nil, unsupported() }

// Accept always fails on this system.
func (l *Line) Accept() (net.Conn, error) { return nil, unsupported() }

// Close does nothing on this system.
func (l *Line) Close() error { return nil }
