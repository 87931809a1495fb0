package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// git runs git in a directory.
type git struct {
	dir string
	env []string
}

// newGit returns git without what a hook of git passes on: the directory says which
// repository it is, and nothing of it is changed.
func newGit(dir string, environ []string) git {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "LC_ALL"}, name)
	})
	return git{dir, append(env, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")}
}

// A gitError is what git said.
type gitError struct{ said string }

func (e *gitError) Error() string {
	return "git: " + strings.ReplaceAll(strings.TrimSpace(e.said), "\n", "; ")
}

// stopping is how long git may keep its pipes open after it was killed.
const stopping = 5 * time.Second

// out runs a command of git and returns what it prints, without the end of the last line.
func (g git) out(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	// Programs that the configuration names, other than filters, do not run.
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = g.dir, g.env, stdin, stopping
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed, and the change is read with it; install git")
	case ctx.Err() != nil:
		return "", fmt.Errorf("git: %w", context.Cause(ctx))
	case err != nil:
		return "", &gitError{said.String()}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
