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
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "LC_ALL":
			return true
		}
		return false
	})
	return git{dir, append(env, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")}
}

func (g git) with(env ...string) git {
	g.env = append(slices.Clip(g.env), env...)
	return g
}

// A gitError is what git said.
type gitError struct {
	said string
	err  error
}

func (e *gitError) Error() string {
	said := strings.TrimSpace(e.said)
	if said == "" {
		return "git: " + e.err.Error()
	}
	return "git: " + strings.ReplaceAll(said, "\n", "; ")
}

func (e *gitError) Unwrap() error { return e.err }

// stopping is how long a program that was killed may keep its pipes open.
const stopping = 5 * time.Second

// out runs a command of git and returns what it prints.
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
		return "", &gitError{said.String(), err}
	}
	return out.String(), nil
}

// line is out without the end of the line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	text, err := g.out(ctx, nil, args...)
	return strings.TrimSuffix(text, "\n"), err
}

// texts reads the contents with the digests.
func (g git) texts(ctx context.Context, digests []string) (map[string]string, error) {
	if len(digests) == 0 {
		return nil, nil
	}
	out, err := g.out(ctx, strings.NewReader(strings.Join(digests, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for out != "" {
		header, rest, _ := strings.Cut(out, "\n")
		var digest, kind string
		var size int
		if _, err := fmt.Sscanf(header, "%s %s %d", &digest, &kind, &size); err != nil || len(rest) <= size {
			return nil, fmt.Errorf("git cat-file: %q is no header of a content", header)
		}
		texts[digest], out = rest[:size], rest[size+1:]
	}
	return texts, nil
}
