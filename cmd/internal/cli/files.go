package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
)

// mostFiles is how many files of a run pawl show names.
const mostFiles = 20

// fileText describes a file for people: its name, type, size and origin.
func fileText(f runs.File) string {
	from, kept := "input", ""
	if f.Call != "" {
		from = f.Call + " " + f.Tool
	}
	if f.Digest == "" {
		kept = ", not kept"
	}
	return fmt.Sprintf("%s, %s, %s, from %s%s", f.Name, f.Type, display.Count(f.Bytes, "byte"), from, kept)
}

// A writtenFile is the line about a file in JSON. Path is empty if it was not written.
type writtenFile struct {
	runs.File
	Path string `json:"path"`
}

// writeFiles writes the files of a run into a directory, and prints a line for each. If it would
// overwrite a file, it writes none.
func (con *console) writeFiles(ctx context.Context, j pawl.Journal, run, dir string) error {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return misuse("--files: %w", err)
	}
	root, err := os.OpenRoot(dir) // also refuses the names that a system reserves
	if err != nil {
		return misuse("--files: %w", err)
	}
	defer root.Close()
	files := runs.Files(s)
	for _, f := range files {
		if _, err := root.Lstat(f.Name); f.Digest != "" && !errors.Is(err, fs.ErrNotExist) {
			return misuse("--files: %s exists already, and nothing is overwritten; name another directory", filepath.Join(dir, f.Name))
		}
	}
	lost, written := 0, map[string]bool{} // a file that several calls returned is written once
	for _, f := range files {
		line, text := writtenFile{File: f}, fileText(f)
		data, err := f.Read(ctx, j)
		switch {
		case err == nil:
			if line.Path = filepath.Join(dir, f.Name); fmt.Sprintf("%x", sha256.Sum256(data)) != f.Digest {
				text += ", without what looks like a secret"
			}
			if !written[f.Name] {
				err = writeNew(root, f.Name, data)
			}
			written[f.Name] = true
		case f.Digest == "":
			err = nil
		case errors.Is(err, pawl.ErrUnknownBlob):
			lost++
			err, text = nil, text+", not in the journal"
		}
		if err == nil && con.json {
			err = printJSON(con.out, line)
		} else if err == nil {
			_, err = fmt.Fprintln(con.out, screen.OneLine(text))
		}
		if err != nil {
			return err
		}
	}
	if len(files) == 0 {
		con.sayf("run %s has no files", run)
	}
	if lost > 0 {
		return fmt.Errorf("the journal does not have %s of run %s: they were removed, or the run was imported without them", display.Count(lost, "file"), run)
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
