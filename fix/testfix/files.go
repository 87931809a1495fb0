package testfix

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// files are the project's files as the tools see them: beneath root, whatever
// path they are given and whatever links stand in the way.
type files struct {
	root  *os.Root
	fixed []string                // paths that the test command names
	tests bool                    // test files may be changed
	wrote func(path string) error // called before a file is changed
	// changed is called after; nil before or after: the file did not exist.
	changed func(path string, before, after []byte)
}

// read returns the content of a text file.
func (f *files) read(name string) ([]byte, fs.FileMode, error) { return beneath.Read(f.root, name) }

// writable says why a file may not be changed. A link is never written through: its target
// may be a test, and replacing the file would replace the link.
func (f *files) writable(name string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := f.root.Lstat(filepath.FromSlash(name[:i]))
		if err != nil {
			return beneath.Plainly(name, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; edit the file it leads to", name[:i])
		}
	}
	switch {
	case slices.ContainsFunc(f.fixed, func(p string) bool { return strings.EqualFold(p, name) }):
		return fmt.Errorf("%s belongs to the test command and is read-only", name)
	case !f.tests && isTest(name):
		return fmt.Errorf("%s belongs to the tests and is read-only: fix the code that they test", name)
	}
	return nil
}

// isTest reports whether a path belongs to a test or its data. It ignores case, since file
// systems may.
func isTest(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	for _, dir := range parts[:len(parts)-1] {
		switch dir {
		case "testdata", "__tests__", "__snapshots__":
			return true
		case "test", "tests":
			// A Go package may have that name; in other projects it holds tests and their
			// data.
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
	if err := beneath.Write(f.root, name, data, perm); err != nil {
		return err
	}
	f.changed(name, before, data)
	return nil
}
