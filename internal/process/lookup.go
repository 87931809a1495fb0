//go:build linux || darwin

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// locate returns the path to execute for c. It searches the command's own PATH,
// unlike exec.LookPath, which uses the caller's. It skips relative and empty
// entries of PATH: the working directory must not determine what "go" means.
func locate(c Command) (string, error) {
	name := c.Argv[0]
	fail := func(err error, format string, args ...any) (string, error) {
		return "", &StartError{Program: name, Reason: fmt.Sprintf(format, args...), Err: err}
	}
	if c.Dir != "" {
		switch info, err := os.Stat(c.Dir); {
		case err != nil:
			return fail(err, "its working directory cannot be used: %v", err)
		case !info.IsDir():
			return fail(syscall.ENOTDIR, "its working directory %s is a file; name a directory", c.Dir)
		}
	}
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(c.Dir, name)
		}
		switch info, err := os.Stat(full); {
		case errors.Is(err, fs.ErrNotExist):
			hint := "create it or name another program"
			if full != name {
				hint = "a path with a slash is relative to the working directory"
			}
			return fail(err, "there is no file %s; %s", full, hint)
		case err != nil:
			return fail(err, "%v", err)
		case info.IsDir():
			return fail(syscall.EISDIR, "%s is a directory; name a program", full)
		case info.Mode()&0o111 == 0:
			return fail(fs.ErrPermission, "%s is not executable; chmod +x it or name its interpreter first", full)
		}
		return name, nil // still relative: the child resolves it after changing directory
	}
	path := ""
	for _, entry := range c.Env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	if path == "" {
		return fail(fs.ErrNotExist, "the command's environment has no PATH to look it up in; give its absolute path")
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	hint := ""
	if _, err := os.Stat(filepath.Join(c.Dir, name)); err == nil {
		hint = fmt.Sprintf("; did you mean ./%s?", name)
	}
	return fail(fs.ErrNotExist, "not found in PATH (%s)%s", path, hint)
}

// refused explains why the kernel did not execute the file.
func refused(name string, err error) error {
	reason := err.Error()
	switch {
	case errors.Is(err, syscall.ENOENT):
		reason = "the file exists but the interpreter that its first line names, or its loader, does not"
	case errors.Is(err, syscall.ENOEXEC):
		reason = "it is neither a program for this system nor a script that begins with #! and an interpreter"
	case errors.Is(err, syscall.E2BIG):
		reason = "its arguments and environment are larger than the system allows; pass large data on stdin"
	case errors.Is(err, syscall.EAGAIN):
		reason = "the limit on processes is reached: " + err.Error()
	case errors.Is(err, syscall.EINVAL):
		reason = "an argument or variable contains a NUL byte"
	}
	return &StartError{Program: name, Reason: reason, Err: err}
}
