// Package files makes tools that read and change text files below a directory.
//
//	tools := files.Tools("project") // read_file, list_files, search_files, edit_file, write_file
//
// The kernel decides where a path leads, through [os.Root]: neither dots nor links
// lead out of the directory. Only regular files of at most 4 MiB of UTF-8 are read and
// written; pipes, devices and sockets are refused without waiting for them. File
// systems that are mounted below the directory belong to it, and a file with a second
// name outside (a hard link) can be read under its name inside.
//
// Each call opens the directory again, following it if it is a link. If it does not exist, calls
// return an error.
package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/tool"
)

// maxResult is how many bytes a result may have. It is JSON, in which a byte of text may take
// six bytes.
const maxResult = 400 << 10

// Tools returns all five tools for a directory.
func Tools(dir string) []pawl.Tool {
	return []pawl.Tool{Read(dir), List(dir), Search(dir), Edit(dir), Write(dir)}
}

type readArgs struct {
	Path  string `json:"path" jsonschema:"the file, relative to the root"`
	Start int    `json:"start,omitempty" jsonschema:"first line wanted, from 1; the beginning when left out"`
	End   int    `json:"end,omitempty" jsonschema:"last line wanted; the end when left out"`
	// Numbers are off by default: a text that has them must not be copied into an edit.
	Numbers bool `json:"numbers,omitempty" jsonschema:"true: each line begins with its number and a tab, which are no part of the file"`
}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the directory; the root when left out"`
}

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression in RE2 syntax, matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"a directory or file to search; everything when left out"`
}

// Read is the tool read_file: a text file, or some lines of it.
func Read(dir string) pawl.Tool {
	return reading("read_file", "Read a text file. What comes back is the text itself; when only a part is given, a last line in square brackets says which.", dir,
		func(_ context.Context, root *os.Root, a readArgs) (string, error) {
			return beneath.Part(root, a.Path, a.Start, a.End, a.Numbers)
		})
}

// List is the tool list_files: the names of the files below a directory.
func List(dir string) pawl.Tool {
	return reading("list_files", "List the files beneath a directory, one a line. A name that ends in / is a directory whose content is not listed.", dir,
		func(ctx context.Context, root *os.Root, a listArgs) (string, error) {
			return beneath.List(ctx, root, a.Path)
		})
}

// Search is the tool search_files: the lines of text files that match a regular
// expression.
func Search(dir string) pawl.Tool {
	return reading("search_files", "Search text files for a regular expression. Each match is a line of the form path:line: text.", dir,
		func(ctx context.Context, root *os.Root, a searchArgs) (string, error) {
			return beneath.Search(ctx, root, a.Path, a.Pattern)
		})
}

// reading makes a tool that changes nothing.
func reading[In any](name, description, dir string, do func(context.Context, *os.Root, In) (string, error)) pawl.Tool {
	return tool.FuncWith(name, description, rooted(dir, do), pawl.Read, &tool.Options{MaxOutput: maxResult})
}

// rooted opens the directory for each call.
func rooted[In any](dir string, do func(context.Context, *os.Root, In) (string, error)) func(context.Context, In) (string, error) {
	return func(ctx context.Context, a In) (string, error) {
		root, err := open(dir)
		if err != nil {
			return "", err
		}
		defer root.Close()
		return do(ctx, root, a)
	}
}

func open(dir string) (*os.Root, error) {
	dir = cmp.Or(dir, ".")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of the files cannot be used: %w", reason(err))
	}
	return root, nil
}

// reason returns an error without the path, which the model does not need.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// changing is a tool that changes the file that its argument path names. That file is a
// precondition: an approval is void if the file changes before the call runs.
type changing struct {
	pawl.Tool
	pawl.Reconciler
	dir string
}

// Witness returns the digest of the file.
func (c changing) Witness(_ context.Context, args json.RawMessage) (map[string]string, error) {
	var a struct{ Path string }
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	root, err := open(c.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return map[string]string{a.Path: digest(root, a.Path)}, nil
}
