package project

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// A Rule says which files may be edited.
type Rule int

// The rules.
const (
	Code  Rule = iota // all but tests, their data and what decides which tests run
	All               // all
	Tests             // tests and their data, but not what decides which tests run
	Kept              // all but what decides which tests run; see also Keeps
)

// Files are the project's files as the tools see them: beneath root, whatever
// path they are given and whatever links stand in the way.
type Files struct {
	Root  *os.Root
	Fixed []string // paths that the test command names
	Rule  Rule
	Wrote func(path string, after []byte) error // called before a file is changed; an error prevents it
	// changed is called after; nil before or after: the file did not exist.
	Changed func(path string, before, after []byte)
}

// Read returns the content of a text file.
func (f *Files) Read(name string) ([]byte, fs.FileMode, error) { return beneath.Read(f.Root, name) }

// State digests files.
func (f *Files) State(names []string) string {
	sum := sha256.New()
	for _, name := range names {
		data, _, err := f.Read(name)
		fmt.Fprintf(sum, "%q %v %x\n", name, err == nil, sha256.Sum256(data))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Writable says why a file may not be changed. A link is never written through: its target
// may be a test, and replacing the file would replace the link.
func (f *Files) Writable(name string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := f.Root.Lstat(filepath.FromSlash(name[:i]))
		if err != nil {
			return beneath.Plainly(name, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; edit the file it leads to", name[:i])
		}
	}
	switch {
	case slices.ContainsFunc(f.Fixed, func(p string) bool { return strings.EqualFold(p, name) }):
		return fmt.Errorf("%s belongs to the test command and is read-only", name)
	case f.Rule == Code && IsTest(name):
		return fmt.Errorf("%s belongs to the tests and is read-only: fix the code that they test", name)
	case f.Rule == Tests:
		return onlyTest(name)
	case f.Rule == Kept:
		return steering(name)
	}
	return nil
}

// IsTest reports whether a path belongs to a test or its data. It ignores case, since file
// systems may.
func IsTest(name string) bool {
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

// Write replaces the content of a file in one step: the tests of a run that
// died over it see the old content or the new one.
func (f *Files) Write(name string, data []byte, perm fs.FileMode) error {
	before, _, err := f.Read(name)
	if err != nil {
		before = nil // it is new, or was no text
	}
	if err := f.Wrote(name, data); err != nil {
		return err
	}
	if err := beneath.Write(f.Root, name, data, perm); err != nil {
		return err
	}
	f.Changed(name, before, data)
	return nil
}
