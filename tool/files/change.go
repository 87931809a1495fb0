package files

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
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/tool"
)

type editArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the root"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file, with enough around it to occur once only"`
	New  string `json:"new" jsonschema:"what takes its place"`
}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the root; directories on the way are made"`
	Content string `json:"content" jsonschema:"all that the file is to hold"`
}

// Edit is the tool edit_file: it replaces a text that must occur once. It is a Write, because the
// same edit may be wanted again after its reverse. After a crash within a call the model is
// informed, since reading the file shows the outcome.
func Edit(dir string) pawl.Tool {
	return change("edit_file", "Replace a piece of text in a file. The text must occur exactly once.", dir, edit, nil, "old", "new")
}

// Write is the tool write_file: it writes a whole file, new or not, in one step and keeps its
// permissions. It is a Write, because what was overwritten may be wanted again. After a crash
// within a call the file shows whether it was written; if it has other content, the model gets an
// unknown outcome.
func Write(dir string) pawl.Tool {
	return change("write_file", "Write a whole file, new or not. To change a part of one, use edit_file.", dir, write,
		func(ctx context.Context, inv pawl.Invocation) (pawl.Output, bool, error) {
			var a writeArgs
			if err := json.Unmarshal(inv.Args, &a); err != nil {
				return pawl.Output{}, false, fmt.Errorf("arguments: %w", err)
			}
			root, err := open(dir)
			if err != nil {
				return pawl.Output{}, false, err
			}
			defer root.Close()
			name, err := beneath.Local(a.Path)
			if err != nil {
				return pawl.Output{}, false, err
			}
			if data, _, err := beneath.Read(root, name); err != nil || string(data) != a.Content {
				return pawl.Output{}, false, fmt.Errorf("%s has other content; whether it was written is not known", name)
			}
			told, err := json.Marshal(written(name, a.Content))
			return pawl.Output{JSON: told}, true, err
		}, "content")
}

// change makes a tool that changes a file; content names the arguments that are text.
func change[In any](name, description, dir string, do func(context.Context, *os.Root, In) (string, error),
	reconcile func(context.Context, pawl.Invocation) (pawl.Output, bool, error),
	content ...string,
) pawl.Tool {
	t := tool.FuncWith(name, description, rooted(dir, do), pawl.Write, &tool.Options{OnDoubt: pawl.DoubtTell, Reconcile: reconcile, Content: content})
	return changing{t, t.(pawl.Reconciler), dir}
}

func edit(_ context.Context, root *os.Root, a editArgs) (string, error) {
	name, err := beneath.Local(a.Path)
	if err != nil {
		return "", err
	}
	if err := replaceable(root, name); err != nil {
		return "", err
	}
	data, perm, err := beneath.Read(root, name)
	if err != nil {
		return "", err
	}
	before := string(data)
	a.Old, a.New = beneath.Ended(a.Old, before), beneath.Ended(a.New, before)
	at, err := beneath.Place(name, before, a.Old, a.New)
	if err != nil {
		return "", err
	}
	after := before[:at] + a.New + before[at+len(a.Old):]
	if err := content(name, after); err != nil {
		return "", err
	}
	if err := beneath.Write(root, name, []byte(after), perm); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: replaced at line %d", name, 1+strings.Count(before[:at], "\n")), nil
}

func write(_ context.Context, root *os.Root, a writeArgs) (string, error) {
	name, err := beneath.Local(a.Path)
	if err != nil {
		return "", err
	}
	if name == "." || strings.HasSuffix(a.Path, "/") {
		return "", fmt.Errorf("path %q names a directory; name a file", a.Path)
	}
	if err := content(name, a.Content); err != nil {
		return "", err
	}
	perm := fs.FileMode(0o644)
	switch info, err := root.Lstat(filepath.FromSlash(name)); {
	case err == nil:
		if err := replaceable(root, name); err != nil {
			return "", err
		}
		perm = info.Mode().Perm()
	case errors.Is(err, fs.ErrNotExist):
		if err := beneath.New(name); err != nil {
			return "", err
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
			return "", beneath.Plainly(path.Dir(name), err)
		}
	default:
		return "", beneath.Plainly(name, err)
	}
	if err := beneath.Write(root, name, []byte(a.Content), perm); err != nil {
		return "", err
	}
	return written(name, a.Content), nil
}

func written(name, content string) string {
	return fmt.Sprintf("%s: written, %d bytes", name, len(content))
}

// content returns an error if a file may not have this content.
func content(name, text string) error {
	switch {
	case len(text) > beneath.Largest:
		return fmt.Errorf("%s would have %d bytes; files above %d are not handled", name, len(text), beneath.Largest)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("the content for %s is not text in UTF-8", name)
	}
	return nil
}

// replaceable returns an error if the file at a path may not be replaced. A symbolic link is
// refused, since replacing the file would replace the link.
func replaceable(root *os.Root, name string) error {
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return beneath.Plainly(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; name the file it leads to", name)
	case info.IsDir():
		return fmt.Errorf("%s is a directory; name a file", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	}
	return nil
}

// digest returns the SHA-256 of a file's content in hexadecimal, or a word that says why there is
// none. The tool itself refuses files that are too large or not text.
func digest(root *os.Root, name string) string {
	if _, err := root.Lstat(filepath.FromSlash(name)); errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	data, _, err := beneath.Read(root, name)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
