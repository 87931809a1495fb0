package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/tool/files"
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

// Files are the project's files as the agent may change them: beneath root, whatever
// path is given and whatever links stand in the way.
type Files struct {
	Root  *os.Root
	Fixed []string // paths that the test command names
	Rule  Rule
	Wrote func(path string, after []byte) error // called before a file is changed; an error prevents it
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

// Writable says why a file may not be changed, or come into being: a new test would prove what its author
// likes, and a new go.mod would take tests out of the module. A link is never written through: its target may
// be a test, and replacing the file would replace the link.
func (f *Files) Writable(name string) error {
	old := true
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := f.Root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			old = false
		case err != nil:
			return beneath.Plainly(name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link; edit what it leads to", name[:i])
		case i == len(name) && info.IsDir():
			return fmt.Errorf("%s is a directory; name a file", name)
		}
	}
	if slices.ContainsFunc(f.Fixed, func(p string) bool { return strings.EqualFold(path.Clean(p), name) }) {
		return fmt.Errorf("%s belongs to the test command and is read-only", name)
	}
	return f.allowed(name, old)
}

// IsTest reports whether a path belongs to a test or its data. It ignores case, since file
// systems may. A Go package may have the name test; in other projects such a directory holds tests and their data.
func IsTest(name string) bool {
	return tests.MatchString(name) || !strings.EqualFold(path.Ext(name), ".go") && testDirs.MatchString(name)
}

var (
	testDirs = regexp.MustCompile(`(?i)(^|/)tests?/`)
	tests    = regexp.MustCompile(`(?i)(^|/)(testdata|__tests__|__snapshots__)/|_test\.(go|py|rb)$|_spec\.rb$|(^|/)test_[^/]*\.py$|` +
		`(^|/)conftest\.py$|\.(test|spec)\.[cm]?[jt]sx?$|tests?\.(java|kt|cs)$`)
)

// allowed says why the rule forbids to edit a file, or to make a new one.
func (f *Files) allowed(name string, old bool) error {
	steering := steers[strings.ToLower(path.Base(name))]
	switch {
	case f.Rule == All:
	case f.Rule == Code && IsTest(name):
		return fmt.Errorf("%s belongs to the tests and is read-only: fix the code that they test", name)
	case steering && (!old || f.Rule != Code):
		return fmt.Errorf("%s decides which tests run, and is read-only", name)
	case f.Rule == Tests && !IsTest(name):
		return fmt.Errorf("%s is no test, and only tests may be edited; use a name such as name_test.go or test_name.py", name)
	}
	return nil
}

// steers lists files that configure which tests a runner runs.
var steers = map[string]bool{
	"go.mod": true, "go.work": true, "pytest.ini": true, ".pytest.ini": true, "tox.ini": true, "conftest.py": true,
	"sitecustomize.py": true, "usercustomize.py": true,
}

// Write replaces the content of a file in one step: the tests of a run that
// died over it see the old content or the new one.
func (f *Files) Write(name string, data []byte, perm fs.FileMode) error {
	if err := f.Wrote(name, data); err != nil {
		return err
	}
	return beneath.Write(f.Root, name, data, perm)
}

// Tools returns the tools that read and edit the files.
func (f *Files) Tools() []pawl.Tool {
	dir := ""
	if f != nil { // else they are only declared
		dir = f.Root.Name()
	}
	all := files.Tools(dir)
	for i, t := range all {
		if t.Info().Effect == pawl.Write {
			all[i] = guarded{t, t.(pawl.Reconciler), f}
		}
	}
	return all
}

// guarded is a tool that changes a file only where the rule allows it, and after Wrote has noted that.
type guarded struct {
	pawl.Tool
	pawl.Reconciler

	files *Files
}

// Run checks what the call would write, and makes the call.
func (g guarded) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var a struct{ Path, Old, New, Content string }
	if err := json.Unmarshal(inv.Args, &a); err != nil {
		return pawl.Output{}, fmt.Errorf("arguments: %w", err)
	}
	name, err := beneath.Local(a.Path)
	if err != nil {
		return pawl.Output{}, err
	}
	if err := g.files.Writable(name); err != nil {
		return pawl.Output{}, err
	}
	after := a.Content
	if g.Info().Name == "edit_file" {
		before, _, err := g.files.Read(name)
		if err != nil || strings.Count(string(before), a.Old) != 1 {
			return g.Tool.Run(ctx, inv) // which says why not
		}
		after = strings.Replace(string(before), a.Old, a.New, 1)
	}
	if err := g.files.Wrote(name, []byte(after)); err != nil {
		return pawl.Output{}, err
	}
	return g.Tool.Run(ctx, inv)
}
