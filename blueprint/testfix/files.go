package testfix

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// largest is the size of the largest file the tools handle: far above that of
// source, and small enough to be in memory a few times.
const largest = 4 << 20

// files are the project's files as the tools see them: beneath root, whatever
// path they are given and whatever links stand in the way.
type files struct {
	root  *os.Root
	fixed []string                // paths that the test command names
	tests bool                    // test files may be changed
	wrote func(path string) error // told before a file is changed
	// changed is told after it was; nil content: the file was not there.
	changed func(path string, before, after []byte)
}

// local checks a path that a model gave and returns it cleaned.
func local(name string) (string, error) {
	if name == "" {
		name = "."
	}
	if strings.ContainsAny(name, "\x00\n") || strings.HasPrefix(name, "/") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("path %q leaves the project; give one relative to its root, such as internal/ledger/ledger.go", name)
	}
	return path.Clean(name), nil
}

// read returns the content of a regular file. It is opened without waiting, so
// that a pipe somebody put there holds nobody up.
func (f *files) read(name string) ([]byte, fs.FileMode, error) {
	name, err := local(name)
	if err != nil {
		return nil, 0, err
	}
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, plainly(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, 0, plainly(name, err)
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a directory; list_files shows what is in it", name)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is no regular file", name)
	case info.Size() > largest:
		return nil, 0, fmt.Errorf("%s has %d bytes; files above %d are not handled", name, info.Size(), largest)
	}
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	switch {
	case err != nil:
		return nil, 0, plainly(name, err)
	case len(data) > largest:
		return nil, 0, fmt.Errorf("%s grows while it is read", name)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, 0, fmt.Errorf("%s is not text in UTF-8", name)
	}
	return data, info.Mode().Perm(), nil
}

// writable says why a file may not be changed. A link is never written
// through: what it leads to may be a test, and replacing the file would
// replace the link.
func (f *files) writable(name string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := f.root.Lstat(filepath.FromSlash(name[:i]))
		if err != nil {
			return plainly(name, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; edit the file it leads to", name[:i])
		}
	}
	switch {
	case slices.ContainsFunc(f.fixed, func(p string) bool { return strings.EqualFold(p, name) }):
		return fmt.Errorf("%s belongs to the test command and is read-only", name)
	case !f.tests && isTest(name):
		return fmt.Errorf("%s belongs to the tests and is read-only: mend the code that the tests are about", name)
	}
	return nil
}

// isTest tells whether a path is a test's or its data. Case is ignored, since
// file systems may ignore it too.
func isTest(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	for _, dir := range parts[:len(parts)-1] {
		switch dir {
		case "testdata", "__tests__", "__snapshots__":
			return true
		case "test", "tests":
			// A Go package may have that name; elsewhere it is where tests
			// and what they read are.
			if path.Ext(name) != ".go" {
				return true
			}
		}
	}
	base := parts[len(parts)-1]
	stem, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
	switch ext {
	case ".go":
		return strings.HasSuffix(stem, "_test")
	case ".py":
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "conftest"
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs":
		return strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")
	case ".rb":
		return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec")
	case ".java", ".kt", ".cs":
		return strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests")
	}
	return false
}

// write replaces the content of a file in one step: the tests of a run that
// died over it see the old content or the new one.
func (f *files) write(name string, data []byte, perm fs.FileMode) error {
	before, _, err := f.read(name)
	if err != nil {
		before = nil // it is new, or was no text
	}
	if err := f.wrote(name); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), ".pawl-"+rand.Text())
	file, err := f.root.OpenFile(filepath.FromSlash(temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return plainly(name, err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(perm), file.Sync(), file.Close())
	if err == nil {
		err = f.root.Rename(filepath.FromSlash(temp), filepath.FromSlash(name))
	}
	if err != nil {
		return errors.Join(plainly(name, err), f.root.Remove(filepath.FromSlash(temp)))
	}
	f.changed(name, before, data)
	return nil
}

// dependencies are directories of other people's code, seen only when asked for.
func dependencies(name string) bool {
	base := path.Base(name)
	return base == "vendor" || base == "node_modules" || base == ".git"
}

// walk visits what lies beneath a path, in order, without following links.
func (f *files) walk(ctx context.Context, name string, visit func(name string, d fs.DirEntry) error) error {
	name, err := local(name)
	if err != nil {
		return err
	}
	err = fs.WalkDir(f.root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && p == name:
			return err
		case err != nil:
			return nil // one that cannot be read, or is gone by now, is not there
		}
		if err := visit(p, d); err != nil {
			return err
		}
		if d.IsDir() && p != name && dependencies(p) {
			return fs.SkipDir
		}
		return nil
	})
	return plainly(name, err)
}

// plainly says what is wrong with a path in a model's words, without telling
// where the copy lies.
func plainly(name string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s; list_files shows what there is", name)
	case errors.As(err, &pe):
		return fmt.Errorf("%s: %w", name, pe.Err)
	case errors.As(err, &le):
		return fmt.Errorf("%s: %w", name, le.Err)
	}
	return err
}
