package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/beneath"
)

// Create writes a whole file, new or not.
func (f *Files) Create(name, content string) (string, error) {
	name, err := beneath.Local(name)
	if err != nil {
		return "", err
	}
	if len(content) > beneath.Largest {
		return "", fmt.Errorf("%s would have %d bytes; files above %d are not handled", name, len(content), beneath.Largest)
	}
	if !utf8.ValidString(content) || strings.ContainsRune(content, 0) {
		return "", errors.New("content is not text in UTF-8")
	}
	if base := path.Base(name); strings.HasPrefix(base, ".pawl-") || name == "." {
		return "", fmt.Errorf("%s is not a valid file name here", name)
	}
	data, perm, err := f.Read(name)
	switch {
	case err == nil:
		if err := f.Writable(name); err != nil {
			return "", err
		}
		if string(data) == content {
			return "", fmt.Errorf("%s has this content already", name)
		}
	case f.missing(name):
		if err := beneath.New(name); err != nil {
			return "", err
		}
		if err := f.creatable(name); err != nil {
			return "", err
		}
		if err := f.Root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
			return "", beneath.Plainly(name, err)
		}
		perm = 0o644
	default:
		return "", errors.Join(f.Writable(name), err)
	}
	if err := f.Write(name, []byte(content), perm); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s: written, %d lines", name, strings.Count(content, "\n"))
	if strings.HasSuffix(name, ".go") {
		if why := Parses(name, content); why != nil {
			text += fmt.Sprintf("; it does not parse: %v", why)
		}
	}
	return text, nil
}

// missing reports whether a path does not exist, not even as a dangling link.
func (f *Files) missing(name string) bool {
	_, err := f.Root.Lstat(filepath.FromSlash(name))
	return errors.Is(err, fs.ErrNotExist)
}

// creatable says why a file may not come into being: a new test would prove
// what its author likes, and a new go.mod would take tests out of the module.
func (f *Files) creatable(name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := f.Root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; write beneath the directory it leads to", dir)
		}
	}
	base := strings.ToLower(path.Base(name))
	switch {
	case f.Rule == All:
		return nil
	case f.Rule == Tests:
		return onlyTest(name)
	case f.Rule == Kept:
		return steering(name)
	case IsTest(name):
		return fmt.Errorf("%s would belong to the tests, which are read-only: fix the code that they test", name)
	case steers[base]:
		return fmt.Errorf("%s would decide which tests run, and those are read-only: fix the code that they test", name)
	}
	return nil
}

// onlyTest says why a file may not be edited where only tests may be.
func onlyTest(name string) error {
	if !IsTest(name) && !steers[strings.ToLower(path.Base(name))] {
		return fmt.Errorf("%s is no test, and only tests may be edited: write a file such as name_test.go or test_name.py", name)
	}
	return steering(name)
}

// steering says why a file may not be edited that decides which tests run.
func steering(name string) error {
	if steers[strings.ToLower(path.Base(name))] {
		return fmt.Errorf("%s decides which tests run, and is read-only", name)
	}
	return nil
}

// steers lists files that configure which tests a runner runs.
var steers = map[string]bool{
	"go.mod": true, "go.work": true, "pytest.ini": true, ".pytest.ini": true, "tox.ini": true, "conftest.py": true,
	"sitecustomize.py": true, "usercustomize.py": true,
}
