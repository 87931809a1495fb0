package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/wire"
)

// Bounds of the files of an input.
const (
	MaxFiles     = media.MostFiles // how many
	MaxFileBytes = media.MostBytes // of all together
)

// attach checks the files of the input, and stores them. The run's first entry then has
// them by reference.
func (b *beginning) attach(ctx context.Context) error {
	if len(b.Files) == 0 || b.caller != nil { // a child gets those of its parent, which are stored
		return nil
	}
	e := b.engine
	if e.blobs == nil {
		return &FileError{fileName(b.Files[0]), errors.New("the journal keeps no files; use one that implements pawl.Blobs")}
	}
	if len(b.Files) > MaxFiles {
		return &FileError{fileName(b.Files[MaxFiles]), fmt.Errorf("an input has at most %d files, not %d", MaxFiles, len(b.Files))}
	}
	b.Files = slices.Clone(b.Files)
	clean := e.cleaner(b.machine)
	size := 0
	for i := range b.Files {
		f := &b.Files[i]
		if err := known(f, &clean); err != nil {
			return &FileError{fileName(*f), err}
		}
		if size += f.Bytes; size > MaxFileBytes {
			return &FileError{fileName(*f), fmt.Errorf("the files have more than %d MiB together", MaxFileBytes>>20)}
		}
	}
	if err := takes(b.machine.Agent(), b.Files); err != nil {
		return err
	}
	for i := range b.Files {
		f := &b.Files[i]
		if err := e.blobs.PutBlob(ctx, f.Blob, f.Data); err != nil {
			return fmt.Errorf("store the file %s: %w", f.Name, err)
		}
		f.Data = nil
	}
	return nil
}

func fileName(f pawl.File) string { return cmp.Or(f.Name, "without a name") }

// known fills in what the log has of a file. A text is cleaned as all texts are.
func known(f *pawl.File, clean *cleaner) error {
	kind := media.Type(f.Data)
	switch {
	case len(f.Data) == 0:
		return errors.New("it is empty")
	case kind == "":
		return errors.New("it is neither a picture, a PDF, a sound nor text in UTF-8, and models accept no other files")
	case media.Contradicts(kind, f.Type):
		return fmt.Errorf("it is %s, not %s", kind, f.Type)
	}
	f.Type, f.Name = kind, cmp.Or(clean.text(strings.ToValidUTF8(f.Name, "\uFFFD")), kind)
	if isText(*f) {
		f.Data = []byte(clean.text(string(f.Data)))
		f.Tokens = (wire.Quoted(framed(*f)) + 2) / 3 // as the machine counts texts
	} else {
		f.Tokens = media.Tokens(kind, f.Data)
	}
	f.Blob, f.Bytes = digestOf(f.Data), len(f.Data)
	return nil
}

// A RunFile is a file of a run: of its input, or one that a call of a tool returned.
type RunFile struct {
	pawl.File
	Call, Tool string // empty: it is attached to the input
}

// RunFiles returns the files of a run; see [Contents]. Each has the digest of its data as its Blob,
// except one that was not kept.
func RunFiles(s *pawl.State) (all []RunFile) {
	for _, f := range s.Files() {
		all = append(all, RunFile{File: f})
	}
	for c := range s.Calls() {
		for _, f := range c.Files {
			if f.Data != nil {
				f.Blob, f.Bytes = digestOf(f.Data), len(f.Data)
			}
			f.Name = cmp.Or(f.Name, "picture")
			all = append(all, RunFile{f, c.ID, c.Tool})
		}
	}
	return all
}

// Contents returns the data of a file of a run, which the journal has. The error is
// [pawl.ErrUnknownBlob] if it was not kept.
func Contents(ctx context.Context, j pawl.Journal, f pawl.File) ([]byte, error) {
	if f.Data != nil {
		return f.Data, nil
	}
	blobs, ok := j.(pawl.Blobs)
	if !ok || f.Blob == "" {
		return nil, fmt.Errorf("the file %s was not kept: %w", f.Name, pawl.ErrUnknownBlob)
	}
	data, err := blobs.Blob(ctx, f.Blob)
	if err != nil {
		return nil, fmt.Errorf("the file %s: %w", f.Name, err)
	}
	return data, nil
}

// ReadFile reads a file to attach to an input, under the last element of its path.
func ReadFile(path string) (pawl.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return pawl.File{}, &FileError{path, bare(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return pawl.File{}, &FileError{path, errors.New("it is not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return pawl.File{}, &FileError{path, bare(err)}
	case len(data) > MaxFileBytes:
		return pawl.File{}, &FileError{path, fmt.Errorf("it has more than %d MiB", MaxFileBytes>>20)}
	}
	return pawl.File{Name: filepath.Base(path), Data: wire.Unmarked(data)}, nil
}

// bare returns the error of a file without its name.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
