//go:build !unix

package cli

import (
	"context"
	"errors"
	"os/exec"
)

// become runs a program with the same arguments, environment and streams. An interrupt of the
// terminal reaches both.
func become(ctx context.Context, program string, a *app) (int, error) {
	c := exec.CommandContext(context.WithoutCancel(ctx), program, a.args...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = a.environ, a.in, a.out, a.err.Under()
	err := c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}
