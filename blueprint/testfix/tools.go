package testfix

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/tree"
	"github.com/pawl-run/pawl/tool"
)

// Bounds on results. A result is JSON, in which a byte may take six.
const (
	readLimit   = 48 << 10
	listLimit   = 48 << 10
	searchLimit = 24 << 10
	lineLimit   = 300
	maxResult   = 400 << 10
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

type diffArgs struct {
	Path string `json:"path,omitempty" jsonschema:"a file; all that were changed when left out"`
}

type editArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the project's root"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file, with enough around it to occur once only"`
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
		// The same edit may be wanted twice, with its reverse between: a Write.
		// One that a crash cut short is told, for a look at the file settles it.
		tool.FuncWith("edit_file", "Replace a piece of text in a file of the project. The text must occur exactly once. The tests run by themselves after it.",
			f.editFile, pawl.Write, &tool.Options{OnDoubt: pawl.TellDoubt}),
		tool.FuncWith("write_file", "Write a whole file of the project, new or not. To change a part of one, use edit_file. The tests run by themselves after it.",
			f.writeFile, pawl.Write, &tool.Options{OnDoubt: pawl.TellDoubt}),
		tool.FuncWith("git_diff", "Show what was changed so far, as git does.",
			f.gitDiff, pawl.Read, reading),
		tool.FuncWith("run_tests", "Run some of the tests, and get each failure with its message and place; or all of them, with more of what they printed than an observation has. After an edit they run by themselves.",
			f.runTests, pawl.Read, &tool.Options{MaxOutput: maxResult, Timeout: 15 * time.Minute, Alone: true}),
	}
	if isGoTest(f.source.Test) {
		tools = append(tools, f.coverageTool(), f.tryTool())
	}
	return tools
}

func (f *Fix) readFile(_ context.Context, a readArgs) (string, error) {
	if a.Start < 0 || a.End < 0 || a.End > 0 && a.End < a.Start {
		return "", fmt.Errorf("lines %d to %d are no range; lines count from 1", a.Start, a.End)
	}
	data, _, err := f.files.read(a.Path)
	if err != nil {
		return "", err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	start, end := max(a.Start, 1), len(lines)
	if a.End > 0 {
		end = min(end, a.End)
	}
	if start > len(lines) {
		return "", fmt.Errorf("%s has %d lines", a.Path, len(lines))
	}
	var b strings.Builder
	shown := start - 1
	for shown < end && (b.Len()+len(lines[shown]) <= readLimit || shown == start-1) {
		if a.Numbers {
			fmt.Fprintf(&b, "%d\t", shown+1)
		}
		b.Write(lines[shown])
		shown++
	}
	text := b.String()
	if len(text) > readLimit+20 { // a number may stand before it
		return "", fmt.Errorf("line %d of %s has %d bytes; lines above %d are not shown", start, a.Path, len(text), readLimit)
	}
	if start == 1 && shown == len(lines) {
		return text, nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[lines %d to %d of %d]", start, shown, len(lines)), nil
}

func (f *Fix) listFiles(ctx context.Context, a listArgs) (string, error) {
	var b strings.Builder
	left := 0
	top := true
	err := f.files.walk(ctx, a.Path, func(p string, d fs.DirEntry) error {
		asked := top
		top = false
		switch {
		case d.IsDir() && (asked || !dependencies(p)), strings.HasPrefix(d.Name(), ".pawl-"):
			return nil
		case d.IsDir():
			p += "/"
		case d.Type()&fs.ModeSymlink != 0:
			p += " (link)"
		case !d.Type().IsRegular():
			p += " (no regular file)"
		}
		if b.Len()+len(p) > listLimit {
			left++
			return nil
		}
		b.WriteString(p + "\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	if left > 0 {
		fmt.Fprintf(&b, "[%d more; list a directory of them]\n", left)
	}
	if b.Len() == 0 {
		return "[no files]\n", nil
	}
	return b.String(), nil
}

// errEnough ends what is not needed any more.
var errEnough = errors.New("enough")

func (f *Fix) searchFiles(ctx context.Context, a searchArgs) (string, error) {
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", fmt.Errorf("pattern: %w; it is a regular expression in RE2 syntax", err)
	}
	var b strings.Builder
	err = f.files.walk(ctx, a.Path, func(p string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		data, _, err := f.files.read(p)
		if err != nil {
			return nil // no text
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, largest+1)
		for n := 1; lines.Scan(); n++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !re.Match(lines.Bytes()) {
				continue
			}
			text := lines.Text()
			if len(text) > lineLimit {
				text = strings.ToValidUTF8(text[:lineLimit], "") + "…"
			}
			if b.Len()+len(text) > searchLimit {
				b.WriteString("[there are more matches; narrow the pattern or the path]\n")
				return errEnough
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", p, n, text)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	if b.Len() == 0 {
		return "[no match]\n", nil
	}
	return b.String(), nil
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
		name, err := local(a.Path)
		if err != nil {
			return "", err
		}
		d = Diff{d.diff.Only(func(c tree.Change) bool { return c.Path == name })}
	}
	if d.Empty() {
		return "[nothing was changed]\n", nil
	}
	text, _ := excerpt.Cut(d.String(), readLimit)
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
