package testfix

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workspace"
)

// maxResult is how many bytes a result may have. It is JSON, in which a byte of
// text may take six.
const maxResult = 400 << 10

type readArgs struct {
	Path  string `json:"path" jsonschema:"the file, relative to the project's root"`
	Start int    `json:"start,omitempty" jsonschema:"first line wanted, from 1; the beginning when left out"`
	End   int    `json:"end,omitempty" jsonschema:"last line wanted; the end when left out"`
	// Numbers are asked for: a text with them in it must not be copied into an edit.
	Numbers bool `json:"numbers,omitempty" jsonschema:"true: each line begins with its number and a tab, which are no part of the file"`
}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the project's root; directories on the way are made"`
	Content string `json:"content" jsonschema:"all that the file is to hold"`
}

type diffArgs struct {
	Path string `json:"path,omitempty" jsonschema:"a file; all that were changed when left out"`
}

type editArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the project's root"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as in the file, with enough context to occur only once"`
	New  string `json:"new" jsonschema:"what takes its place"`
}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the directory; the project's root when left out"`
}

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression in RE2 syntax, matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"a directory or file to search; the whole project when left out"`
}

type testArgs struct {
	Run string `json:"run,omitempty" jsonschema:"which tests: for go test a regular expression as -run takes it, such as ^TestSum$; for pytest an identity (file::test) or an expression as -k takes it; all tests when left out"`
}

func (f *Fix) tools() []pawl.Tool {
	reading := &tool.Options{MaxOutput: maxResult}
	tools := []pawl.Tool{
		tool.FuncWith("read_file", "Read a text file of the project. What comes back is the text itself; when only a part is given, a last line in square brackets says which.",
			f.readFile, pawl.Read, reading),
		tool.FuncWith("list_files", "List the files beneath a directory of the project, one a line. A name that ends in / is a directory whose content is not listed.",
			f.listFiles, pawl.Read, reading),
		tool.FuncWith("search_files", "Search the text files of the project for a regular expression. Each match is a line of the form path:line: text.",
			f.searchFiles, pawl.Read, reading),
		// The same edit may be wanted twice, with its reverse between: a Write. The model
		// is informed of one that a crash interrupted, since reading the file shows it.
		tool.FuncWith("edit_file", "Replace a piece of text in a file of the project. The text must occur exactly once. The tests run by themselves after it.",
			f.editFile, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
		tool.FuncWith("write_file", "Write a whole file of the project, new or not. To change a part of one, use edit_file. The tests run by themselves after it.",
			f.writeFile, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
		tool.FuncWith("git_diff", "Show the changes so far, as git diff does.",
			f.gitDiff, pawl.Read, reading),
		tool.FuncWith("run_tests", "Run some of the tests, and get each failure with its message and place; or all of them, with more of what they printed than an observation has. After an edit they run by themselves.",
			f.runTests, pawl.Read, &tool.Options{MaxOutput: maxResult, Timeout: 15 * time.Minute, External: true, Alone: true}),
	}
	if isGoTest(f.source.Test) {
		tools = append(tools, f.coverageTool(), f.tryTool())
	}
	return tools
}

func (f *Fix) readFile(_ context.Context, a readArgs) (string, error) {
	return beneath.Part(f.files.root, a.Path, a.Start, a.End, a.Numbers)
}

func (f *Fix) listFiles(ctx context.Context, a listArgs) (string, error) {
	return beneath.List(ctx, f.files.root, a.Path)
}

// errEnough ends what is not needed any more.
var errEnough = errors.New("enough")

func (f *Fix) searchFiles(ctx context.Context, a searchArgs) (string, error) {
	return beneath.Search(ctx, f.files.root, a.Path, a.Pattern)
}

func (f *Fix) editFile(_ context.Context, a editArgs) (string, error) {
	return f.files.edit(a.Path, a.Old, a.New)
}

func (f *Fix) writeFile(_ context.Context, a writeArgs) (string, error) {
	return f.files.create(a.Path, a.Content)
}

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
		d.diff = d.diff.Only(func(c workspace.Change) bool { return c.Path == name })
	}
	if d.Empty() {
		return "[nothing was changed]\n", nil
	}
	text, _ := excerpt.Cut(d.diff.String(), beneath.ReadLimit)
	return text, nil
}

func (f *Fix) runTests(ctx context.Context, a testArgs) (details, error) {
	if a.Run != "" {
		if _, err := regexp.Compile(a.Run); err != nil {
			return details{}, fmt.Errorf("run: %w", err)
		}
		f.running.Lock()
		defer f.running.Unlock()
		now, err := f.suite.run(ctx, a.Run)
		if err != nil {
			return details{}, err
		}
		return now.without(f.flakes()).details(), nil
	}
	now, err := f.test(ctx)
	if err != nil {
		return details{}, err
	}
	return now.details(), nil
}
