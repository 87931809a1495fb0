package testfix

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

type diffArgs struct {
	Path string `json:"path,omitempty" jsonschema:"a file; all that were changed when left out"`
}

func (f *Fix) tools() []pawl.Tool {
	tools := append(f.Files.Tools(),
		tool.FuncWith("git_diff", "Show the changes so far.", f.gitDiff, pawl.Read, &tool.Options{MaxOutput: 6 * beneath.ReadLimit}),
		f.TestTool())
	if mechanical(f.Model) && testrun.IsGoTest(f.source.Test) {
		tools = append(tools, f.repairTool())
	}
	return tools
}

func (f *Fix) gitDiff(_ context.Context, a diffArgs) (string, error) {
	d, err := f.Diff()
	if err != nil {
		return "", err
	}
	if a.Path != "" {
		name, err := beneath.Local(a.Path)
		if err != nil {
			return "", err
		}
		d.Changes = slices.DeleteFunc(d.Changes, func(c workspace.Change) bool { return c.Path != name })
	}
	if d.Empty() {
		return "[nothing was changed]\n", nil
	}
	text, _ := display.Cut(d.String(), beneath.ReadLimit)
	return text, nil
}
