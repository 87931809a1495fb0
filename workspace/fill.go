package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// filler copies a project into a tree.
type filler struct {
	*Tree
	ctx      context.Context
	from, to *os.Root
	pack     *os.File // the originals
	packed   int64
	ignored  ignored
	size     int64
	dirs     []dirMode
}

// dirMode is set after a directory is filled, since it may forbid writing.
type dirMode struct {
	path string
	mode fs.FileMode
}

func (t *Tree) fill(ctx context.Context) error {
	f := &filler{Tree: t, ctx: ctx}
	if err := os.MkdirAll(t.Dir(), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(t.blobs().dir, 0o700); err != nil {
		return err
	}
	var err error
	if f.pack, err = os.OpenFile(t.blobs().originals(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	defer f.pack.Close()
	if f.from, err = os.OpenRoot(t.record.Source); err != nil {
		return err
	}
	defer f.from.Close()
	if f.to, err = os.OpenRoot(t.Dir()); err != nil {
		return err
	}
	defer f.to.Close()
	f.ignored, t.record.Ignores = listIgnored(ctx, t.record.Source)
	if err := fs.WalkDir(f.from.FS(), ".", f.visit); err != nil {
		return err
	}
	for _, v := range slices.Backward(f.dirs) {
		if err := f.to.Chmod(v.path, v.mode); err != nil {
			return err
		}
	}
	return f.pack.Close()
}

// keep adds a content to the originals and returns its digest.
func (f *filler) keep(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if _, known := f.record.Originals[digest]; known {
		return digest, nil
	}
	if _, err := f.pack.Write(data); err != nil {
		return "", err
	}
	f.record.Originals[digest] = span{f.packed, int64(len(data))}
	f.packed += int64(len(data))
	return digest, nil
}

func (f *filler) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if err := context.Cause(f.ctx); err != nil {
		return err
	}
	skip := error(nil)
	if d.IsDir() {
		skip = fs.SkipDir
	}
	if !utf8.ValidString(name) {
		f.leaveOut(strings.ToValidUTF8(name, "\uFFFD"), "its name is not UTF-8")
		return skip
	}
	switch {
	case name == ".":
		return nil
	case path.Base(name) == ".git": // also a file, in submodules and worktrees
		if dir := path.Dir(name); dir != "." {
			f.record.Nested = append(f.record.Nested, dir)
		}
		return skip
	}
	ignored := f.ignored.has(name, d.IsDir())
	info, err := d.Info()
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		if ignored && f.ignored[name+"/"] && f.isMuch(name) {
			return f.refer(name)
		}
		f.dirs = append(f.dirs, dirMode{name, info.Mode().Perm()})
		return f.to.Mkdir(name, 0o700)
	case fs.ModeSymlink:
		return f.link(name, ignored)
	case 0:
		return f.file(name, info, ignored)
	}
	f.leaveOut(name, "it is neither a file, a directory nor a link")
	return nil
}

// Larger ignored directories are not copied.
const (
	mostIgnored      = 4000 // files and directories
	mostIgnoredBytes = 256 << 20
)

// isMuch reports whether an ignored directory holds too much to copy.
func (f *filler) isMuch(dir string) bool {
	entries, size := 0, int64(0)
	enough := errors.New("enough")
	return errors.Is(fs.WalkDir(f.from.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // copying will report the error
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		if entries++; entries > mostIgnored || size > mostIgnoredBytes {
			return enough
		}
		return nil
	}), enough)
}

// refer replaces an ignored directory by a link. Leaving it out would break tests that use what is
// installed there. Tests that write there would do so without the copy too.
func (f *filler) refer(dir string) error {
	f.record.Files[dir] = entry{File{Mode: fs.ModeSymlink}, true}
	if err := f.to.Symlink(filepath.Join(f.record.Source, filepath.FromSlash(dir)), dir); err != nil {
		return err
	}
	return fs.SkipDir
}

func (f *filler) leaveOut(name, why string) {
	f.record.LeftOut = append(f.record.LeftOut, LeftOut{name, why})
}

func (f *filler) link(name string, ignored bool) error {
	target, err := f.from.Readlink(name)
	if err != nil {
		return err
	}
	if why := leadsOut(name, target); why != "" {
		f.leaveOut(name, why)
		return nil
	}
	digest, err := f.keep([]byte(target))
	if err != nil {
		return err
	}
	f.record.Files[name] = entry{File{fs.ModeSymlink, digest}, ignored}
	return f.to.Symlink(target, name)
}

// leadsOut returns why a link must not be made; "": it may. A target may go up only at its start,
// from a directory that is known to be real: after a component that is itself a link, ".." leads to
// an unknown place. The rest of the target can run only through links that passed the same check.
func leadsOut(name, target string) string {
	slashed := filepath.ToSlash(target)
	if filepath.IsAbs(target) || strings.HasPrefix(slashed, "/") || filepath.VolumeName(target) != "" {
		return fmt.Sprintf("it is a link to the absolute path %s", target)
	}
	rest := slashed
	for strings.HasPrefix(rest, "../") || strings.HasPrefix(rest, "./") {
		_, rest, _ = strings.Cut(rest, "/")
		rest = strings.TrimLeft(rest, "/")
	}
	outside := !filepath.IsLocal(path.Join(path.Dir(name), slashed))
	for part := range strings.SplitSeq(rest, "/") {
		outside = outside || part == ".." && rest != ".."
	}
	if outside {
		return fmt.Sprintf("it is a link that leads out, to %s", target)
	}
	if !utf8.ValidString(target) {
		return "its target is not UTF-8"
	}
	return ""
}

func (f *filler) file(name string, info fs.FileInfo, ignored bool) error {
	if f.size += info.Size(); f.size > maxBytes {
		return fmt.Errorf("it is larger than %d bytes; is it the project's directory?", maxBytes)
	}
	in, err := f.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := f.to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	mode := info.Mode().Perm()
	e := entry{File{Mode: mode}, ignored}
	switch {
	case ignored: // its digest is not needed
		_, err = share(out, in)
	case info.Size() <= textLimit:
		var data bytes.Buffer
		if _, err = io.Copy(&data, in); err != nil {
			break
		}
		if _, err = out.Write(data.Bytes()); err != nil {
			break
		}
		e.Digest, err = f.keep(data.Bytes())
	default:
		if _, err = share(out, in); err == nil {
			e.Digest, err = digestOf(out)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := out.Chmod(mode); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	f.record.Files[name] = e
	return f.to.Chtimes(name, info.ModTime(), info.ModTime()) // make and its like compare times
}

// share copies a file. Where the kernel can copy (copy_file_range on Linux), [io.Copy] lets it, and
// file systems such as Btrfs and XFS then share the blocks until one file changes.
func share(to, from *os.File) (int64, error) { return io.Copy(to, from) }

// digestOf returns the digest of a file that was just written. The original may have
// changed since it was copied.
func digestOf(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return copyDigest(io.Discard, f)
}
