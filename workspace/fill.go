package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Variables because tests lower them.
var (
	// maxBytes bounds a copy: enough for a large project with its dependencies, too little for a home
	// directory named by mistake.
	maxBytes int64 = 4 << 30
	// Larger ignored directories are not copied.
	mostIgnored      = 4000 // files and directories
	mostIgnoredBytes = int64(256 << 20)
)

// filler copies a project into a tree.
type filler struct {
	*Tree
	ctx      context.Context
	from, to *os.Root
	ignored  map[string]bool
	size     int64
	dirs     []string // in order
}

func (t *Tree) fill(ctx context.Context) (err error) {
	f := &filler{Tree: t, ctx: ctx, ignored: ignoredDirs(ctx, t.record.Source)}
	if err := os.MkdirAll(t.Dir(), 0o700); err != nil {
		return err
	}
	if f.from, err = os.OpenRoot(t.record.Source); err != nil {
		return err
	}
	defer f.from.Close()
	if f.to, err = os.OpenRoot(t.Dir()); err != nil {
		return err
	}
	defer f.to.Close()
	if err := fs.WalkDir(f.from.FS(), ".", f.visit); err != nil {
		return err
	}
	for _, dir := range slices.Backward(f.dirs) {
		if info, bad := f.from.Stat(dir); bad == nil { // only now, since it may forbid writing
			err = errors.Join(err, f.to.Chmod(dir, info.Mode().Perm()))
		}
	}
	return err
}

func (f *filler) visit(name string, d fs.DirEntry, err error) error {
	if err = cmp.Or(err, context.Cause(f.ctx)); err != nil || name == "." {
		return err
	}
	if path.Base(name) == ".git" { // also a file, in submodules and worktrees
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	switch d.Type() {
	case fs.ModeDir:
		if f.ignored[name] && f.isMuch(name) {
			// Leaving it out would break tests that use what is installed there. Tests that write there
			// would do so without the copy too.
			return cmp.Or(f.to.Symlink(filepath.Join(f.record.Source, filepath.FromSlash(name)), name), fs.SkipDir)
		}
		f.dirs = append(f.dirs, name)
		return f.to.Mkdir(name, 0o700)
	case fs.ModeSymlink:
		return f.link(name)
	case 0:
		return f.file(name)
	}
	f.record.LeftOut = append(f.record.LeftOut, name+" (it is neither a file, a directory nor a link)")
	return nil
}

// isMuch reports whether an ignored directory holds too much to copy.
func (f *filler) isMuch(dir string) bool {
	entries, size := 0, int64(0)
	_ = fs.WalkDir(f.from.FS(), dir, func(_ string, d fs.DirEntry, _ error) error {
		entries++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		if entries > mostIgnored || size > mostIgnoredBytes {
			return fs.SkipAll
		}
		return nil
	})
	return entries > mostIgnored || size > mostIgnoredBytes
}

// ignoredDirs asks git which directories are untracked and ignored. If there is no git or no repository,
// none are. The project may be untrusted: the one setting of a repository that would make this command
// run a program is overridden, and variables of a calling git hook, such as GIT_DIR, are left out.
func ignoredDirs(ctx context.Context, dir string) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }), "GIT_OPTIONAL_LOCKS=0")
	out, _ := cmd.Output()
	set := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if dir, is := strings.CutSuffix(name, "/"); is {
			set[dir] = true
		}
	}
	return set
}

// link copies a link that stays inside; the root refuses to follow any other. A link that leads to
// nothing must stay inside when something is there.
func (f *filler) link(name string) error {
	target, err := f.from.Readlink(name)
	if err != nil {
		return err
	}
	_, err = f.from.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && filepath.IsLocal(filepath.Join(filepath.Dir(name), target)) && !filepath.IsAbs(target) {
		err = nil
	}
	if err != nil {
		f.record.LeftOut = append(f.record.LeftOut, fmt.Sprintf("%s (it is a link that leads out, to %s)", name, target))
		return nil
	}
	return f.to.Symlink(target, name)
}

func (f *filler) file(name string) error {
	in, err := f.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if f.size += info.Size(); f.size > maxBytes {
		return fmt.Errorf("with %s the copy would have more than %d bytes; is this the project's directory?", name, maxBytes)
	}
	out, err := f.to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.record.Files[name], err = digest(info.Mode().Perm(), io.TeeReader(in, out))
	if err := errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close()); err != nil {
		return err
	}
	return f.to.Chtimes(name, info.ModTime(), info.ModTime()) // make and its like compare times
}
