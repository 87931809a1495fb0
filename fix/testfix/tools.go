package testfix

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

type diffArgs struct {
	Path string `json:"path,omitempty" jsonschema:"a file; all that were changed when left out"`
}

func (f *Fix) tools() []pawl.Tool {
	tools := append(f.Files.Tools(),
		tool.FuncWith("git_diff", "Show the changes so far, as git diff does.",
			f.gitDiff, pawl.Read, &tool.Options{MaxOutput: testrun.MaxResult}),
		tool.FuncWith("run_tests", "Run some of the tests, and get each failure with its message and place; or all of them, with more of what they printed than an observation has. After an edit they run by themselves.",
			f.runTests, pawl.Read, &tool.Options{MaxOutput: testrun.MaxResult, Timeout: 15 * time.Minute, External: true, Alone: true}),
	)
	if testrun.IsGoTest(f.source.Test) {
		tools = append(tools, f.coverageTool(), f.tryTool())
	}
	return tools
}

// errEnough ends what is not needed any more.
var errEnough = errors.New("enough")

func (f *Fix) gitDiff(ctx context.Context, a diffArgs) (string, error) {
	d, err := f.Diff(ctx)
	if err != nil {
		return "", err
	}
	if a.Path != "" {
		name, err := beneath.Local(a.Path)
		if err != nil {
			return "", err
		}
		d.Changes = d.Changes.Only(func(c workspace.Change) bool { return c.Path == name })
	}
	if d.Empty() {
		return "[nothing was changed]\n", nil
	}
	text, _ := excerpt.Cut(d.Changes.String(), beneath.ReadLimit)
	return text, nil
}

func (f *Fix) runTests(ctx context.Context, a testrun.Args) (testrun.Details, error) {
	if a.Run != "" {
		if _, err := regexp.Compile(a.Run); err != nil {
			return testrun.Details{}, fmt.Errorf("run: %w", err)
		}
		f.Running.Lock()
		defer f.Running.Unlock()
		now, err := f.Suite.Run(ctx, a.Run)
		if err != nil {
			return testrun.Details{}, err
		}
		return now.Without(f.flakes()).Details(), nil
	}
	now, err := f.test(ctx)
	if err != nil {
		return testrun.Details{}, err
	}
	return now.Details(), nil
}
