package testfix

import (
	"context"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// mostProved is how many such trials are remembered.
const mostProved = 4

// prove remembers a trial of all tests that broke none: when the edit is made, the tests are not
// run once more. A trial lays the edit over the file for the go command alone, so it proves
// nothing of tests that read the source.
func (f *Fix) prove(ctx context.Context, files map[string]string, now testrun.Result) error {
	if f.readsSource() {
		return nil
	}
	state, err := f.stateWith(ctx, files)
	if err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.proved = append(f.proved, cached{state: state, ran: now})
	f.proved = f.proved[max(0, len(f.proved)-mostProved):]
	return nil
}

// provedAt returns the trial of all tests in the state that the files are in now.
func (f *Fix) provedAt(state string) (testrun.Result, bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	i := slices.IndexFunc(f.proved, func(c cached) bool { return c.state == state })
	if i < 0 {
		return testrun.Result{}, false
	}
	return f.proved[i].ran, true
}

// source matches what a test that reads source or runs commands mentions.
var source = regexp.MustCompile(`"os/exec"|"go/(?:ast|build|doc|format|parser|token|types)"|golang\.org/x/tools|\.go["` + "`" + `]|runtime\.Caller`)

// readsSource reports whether a test may depend on source files in another way than by being
// compiled of them.
func (f *Fix) readsSource() bool {
	found := false
	_ = fs.WalkDir(f.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || found:
			return fs.SkipAll
		case d.IsDir() && name != "." && (d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			text, _, err := f.Files.Read(name)
			found = err != nil || source.Match(text)
		}
		return nil
	})
	return found
}
