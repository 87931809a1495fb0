// Package beneath reads, changes, lists and searches the text files below a directory, for a
// model, which is not trusted with paths.
//
// The kernel resolves paths, through os.Root, so neither dots nor links lead out of the
// directory. Only regular files are read; a pipe or device cannot block. Errors are written for
// the model: they name the path that it gave, and do not reveal the directory.
package beneath

import (
	"bytes"
	"cmp"
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
	"unicode"
	"unicode/utf8"
)

// Largest is the size in bytes of the largest file that is handled: far larger
// than source files, and small enough to be in memory several times.
const Largest = 4 << 20

// temporary is the prefix of the names of files being written.
const temporary = ".pawl-"

// Local checks a path and returns it cleaned; empty is the directory itself. It
// only gives clear errors early; the root enforces the limits.
func Local(name string) (string, error) {
	name = cmp.Or(name, ".")
	if strings.ContainsAny(name, "\x00\n") {
		return "", fmt.Errorf("path %q has a line break or a zero byte; give it in one line", name)
	}
	if strings.HasPrefix(name, "/") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("path %q leads outside; give one relative to the root, such as internal/ledger/ledger.go", name)
	}
	return path.Clean(name), nil
}

// mostLevels is the maximal depth of the directories of a new file.
const mostLevels = 32

// New checks the path of a new file, cleaned by Local: a person must be able to
// see all of the name, and programs that walk the directories must terminate.
func New(name string) error {
	unseen := func(r rune) bool {
		return r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	}
	padded := func(part string) bool { return strings.Trim(part, " ") != part }
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("path %q is not text in UTF-8", name)
	case strings.ContainsFunc(name, unseen):
		return fmt.Errorf("path %+q has characters that a reader does not see; name the file without them", name)
	case slices.ContainsFunc(strings.Split(name, "/"), padded):
		return fmt.Errorf("path %q has a name that begins or ends with a space; name the file without it", name)
	case strings.Count(name, "/") > mostLevels:
		return fmt.Errorf("path %.60q… has more than %d directories; put the file higher", name, mostLevels)
	}
	return nil
}

// Read returns the content and the permissions of a text file of at most
// [Largest] bytes. It follows links that stay beneath the root.
func Read(root *os.Root, name string) ([]byte, fs.FileMode, error) {
	name, err := Local(name)
	if err != nil {
		return nil, 0, err
	}
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would block
	if err != nil {
		return nil, 0, Plainly(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, 0, Plainly(name, err)
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a directory; list_files shows what is in it", name)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > Largest:
		return nil, 0, fmt.Errorf("%s has %d bytes; files above %d are not handled", name, info.Size(), Largest)
	}
	data, err := io.ReadAll(io.LimitReader(file, Largest+1))
	switch {
	case err != nil:
		return nil, 0, Plainly(name, err)
	case len(data) > Largest:
		return nil, 0, fmt.Errorf("%s grows while it is read", name)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, 0, fmt.Errorf("%s is not text in UTF-8", name)
	}
	return data, info.Mode().Perm(), nil
}

// Write creates or replaces a file atomically: readers, also after a crash, see
// the old content or the new one. A link is replaced, not followed.
func Write(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	temp := path.Join(path.Dir(name), temporary+rand.Text())
	file, err := root.OpenFile(filepath.FromSlash(temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return Plainly(name, err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(perm), file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(filepath.FromSlash(temp), filepath.FromSlash(name))
	}
	if err != nil {
		return errors.Join(Plainly(name, err), root.Remove(filepath.FromSlash(temp)))
	}
	return nil
}

// dependencies reports directories of third-party code, which are only visited
// on request.
func dependencies(name string) bool {
	base := path.Base(name)
	return base == "vendor" || base == "node_modules" || base == ".git"
}

// walk visits the files beneath a path, in order, without following links. Unread says why a
// directory cannot be read.
func walk(ctx context.Context, root *os.Root, name string, visit func(name string, d fs.DirEntry, unread error) error) error {
	name, err := Local(name)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && p == name:
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		}
		if stop := visit(p, d, err); stop != nil || err != nil {
			return stop
		}
		if d.IsDir() && p != name && dependencies(p) {
			return fs.SkipDir
		}
		return nil
	})
	return Plainly(name, err)
}

// Plainly returns an error about a path in words for a model, without revealing
// the root.
func Plainly(name string, err error) error {
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
