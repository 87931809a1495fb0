//go:build unix

package cli

import (
	"context"
	"syscall"
)

// become replaces this process by a program with the same arguments and environment, so that
// signals and the exit code are its own.
func become(_ context.Context, program string, a *app) (int, error) {
	return 0, syscall.Exec(program, append([]string{program}, a.args...), a.environ)
}
