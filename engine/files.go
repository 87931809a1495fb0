package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
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
	b.Files = slices.Clone(b.Files)
	clean := e.cleaner(b.machine)
	for i := range b.Files {
		f := &b.Files[i]
		if err := known(f, &clean); err != nil {
			return &FileError{fileName(*f), err}
		}
	}
	if err := bounded(b.Files); err != nil {
		return err
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

// ReadFile reads a file to attach to an input, under the last element of its path.
func ReadFile(path string) (pawl.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return pawl.File{}, &FileError{path, display.WithoutPath(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return pawl.File{}, &FileError{path, errors.New("it is not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return pawl.File{}, &FileError{path, display.WithoutPath(err)}
	case len(data) > MaxFileBytes:
		return pawl.File{}, &FileError{path, fmt.Errorf("it has more than %d MiB", MaxFileBytes>>20)}
	}
	return pawl.File{Name: filepath.Base(path), Data: wire.Unmarked(data)}, nil
}
