package testfix

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// Changed is an input for which the fix changes what the tests print.
type Changed struct {
	Input  string `json:"input"` // a value in place of one of a test
	At     string `json:"at"`    // file:line of that
	Before string `json:"before"`
	Now    string `json:"now"`
}

// originals are the files that a fix edited, as the project has them.
func (f *Fix) originals(d Diff) map[string]string {
	files := map[string]string{}
	for _, c := range d.Changes.Changes {
		if text, err := os.ReadFile(filepath.Join(f.source.Dir, filepath.FromSlash(c.Path))); err == nil {
			files[c.Path] = string(text)
		}
	}
	return files
}

// mostChanges is how many inputs show what a fix changes.
const mostChanges = 6

// changes compares the fix, which the copy has, with the project as it was, on inputs made from
// the values of the tests that failed. It finds nothing where they cannot be compared.
func (f *Fix) changes(ctx context.Context, before map[string]string) []Changed {
	o := &goedit.Options{Importer: f.imports(ctx)}
	pkg, tests := failedTests(f.first.Report)
	command, err := testrun.ParseGoCommand(f.Suite.Argv[2:])
	if err != nil || len(before) == 0 || len(tests) == 0 {
		return nil
	}
	in, err := f.affected(ctx, command, []string{pkg})
	if err != nil {
		return nil
	}
	p, err := f.prober(pkg, in.dirs[pkg], tests, o)
	if err != nil {
		return nil
	}
	now, was := p.both(ctx, nil, before)
	if now == "" || was == "" {
		return nil
	}
	var list []Changed
	for _, w := range p.differ(ctx, now, was, mostChanges) {
		c := Changed{Input: w.probe.New + " in place of " + w.probe.Old, At: fmt.Sprintf("%s:%d", w.probe.File, w.probe.Line), Before: w.other, Now: w.one}
		if !slices.Contains(list, c) { // a line may have a value twice
			list = append(list, c)
		}
	}
	return list
}
