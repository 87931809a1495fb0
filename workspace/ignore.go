package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ignored is a set of paths: files, and directories with everything below.
type ignored map[string]bool

func (g ignored) has(name string, dir bool) bool {
	if len(g) == 0 {
		return false
	}
	if dir {
		name += "/"
	}
	for {
		if g[name] {
			return true
		}
		i := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/')
		if i < 0 {
			return false
		}
		name = name[:i+1]
	}
}

// listIgnored asks git which paths in a directory are untracked and ignored. It reports
// false if there is no git or no repository; then nothing is ignored. The rules come from
// many files and from the index, and a mistake would write build results into projects, so
// git applies them.
func listIgnored(ctx context.Context, dir string) (ignored, bool) {
	if !versioned(dir) {
		return nil, false
	}
	out, err := git(ctx, dir, "", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	set := toSet(out)
	// If a repository around the project ignores it as a whole, its rules are of no use here.
	if err != nil || set["./"] {
		return nil, false
	}
	return set, true
}

// versioned reports whether a directory may be in a git work tree, which has a .git at its top.
// Asking git takes longer than most copies.
func versioned(dir string) bool {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return true // let git decide
	}
	for {
		if _, err := os.Lstat(filepath.Join(at, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		above := filepath.Dir(at)
		if above == at {
			return false
		}
		at = above
	}
}

// whichIgnored returns those of the paths that git would ignore. They need not exist in dir.
func whichIgnored(ctx context.Context, dir string, paths []string) ignored {
	if len(paths) == 0 {
		return nil
	}
	out, err := git(ctx, dir, strings.Join(paths, "\x00")+"\x00", "check-ignore", "-z", "--stdin")
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: none of them
		return nil
	}
	return toSet(out)
}

func toSet(list []byte) ignored {
	set := ignored{}
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if len(name) > 0 {
			set[string(name)] = true
		}
	}
	return set
}

// git runs a git command that only reads. The project may be untrusted, so the one setting of a
// repository that would make these commands run a program is overridden.
func git(ctx context.Context, dir, stdin string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"} // without variables of a calling git hook, such as GIT_DIR
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd.Output()
}
