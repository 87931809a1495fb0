package project

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/tool"
)

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

// Tools returns the tools that read and edit the files.
func (f *Files) Tools() []pawl.Tool {
	reading := &tool.Options{MaxOutput: testrun.MaxResult}
	return []pawl.Tool{
		tool.FuncWith("read_file", "Read a text file of the project. What comes back is the text itself; when only a part is given, a last line in square brackets says which.",
			f.readFile, pawl.Read, reading),
		tool.FuncWith("list_files", "List the files beneath a directory of the project, one a line. A name that ends in / is a directory whose content is not listed.",
			f.listFiles, pawl.Read, reading),
		tool.FuncWith("search_files", "Search the text files of the project for a regular expression. Each match is a line of the form path:line: text.",
			f.searchFiles, pawl.Read, reading),
		// The same edit may be wanted twice, with its reverse between: a Write. The model
		// is informed of one that a crash interrupted, since reading the file shows it.
		tool.FuncWith("edit_file", "Replace a piece of text in a file of the project. The text must occur exactly once. The tests run by themselves after it.",
			f.editTool, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
		tool.FuncWith("write_file", "Write a whole file of the project, new or not. To change a part of one, use edit_file. The tests run by themselves after it.",
			f.writeTool, pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell}),
	}
}

func (f *Files) readFile(_ context.Context, a readArgs) (string, error) {
	return beneath.Part(f.Root, a.Path, a.Start, a.End, a.Numbers)
}

func (f *Files) listFiles(ctx context.Context, a listArgs) (string, error) {
	return beneath.List(ctx, f.Root, a.Path)
}

func (f *Files) searchFiles(ctx context.Context, a searchArgs) (string, error) {
	return beneath.Search(ctx, f.Root, a.Path, a.Pattern)
}

func (f *Files) editTool(_ context.Context, a editArgs) (string, error) {
	return f.Edit(a.Path, a.Old, a.New)
}

func (f *Files) writeTool(_ context.Context, a writeArgs) (string, error) {
	return f.Create(a.Path, a.Content)
}
