package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
)

// A Store keeps exports outside the journal, by name. Names are relative paths with slashes.
// Its methods may be called from many goroutines.
type Store interface {
	// Put stores data under a name, all of it or nothing, and returns when it is durable. It
	// replaces what was stored under that name before.
	Put(ctx context.Context, name string, data []byte) error
	// Get opens what Put stored. An unknown name is an fs.ErrNotExist.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
}

// Save stores a raw export of a run, compressed by gzip, and returns its name: the month in
// which the run was created, and its id, as 2026/11/01J8Z….jsonl.gz. [Import] reads it.
func Save(ctx context.Context, j pawl.Journal, h pawl.Head, to Store) (name string, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := Export(ctx, j, h.Run, z, &Options{Raw: true}); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	name = h.Created.UTC().Format("2006/01/") + url.PathEscape(h.Run) + ".jsonl.gz"
	if err := to.Put(ctx, name, b.Bytes()); err != nil {
		return "", fmt.Errorf("archive run %s: %w", h.Run, err)
	}
	return name, nil
}

// Dir is a Store of files below a directory. It creates files readable by their owner only.
type Dir string

// Put writes a file, and syncs it and its directory.
func (d Dir) Put(_ context.Context, name string, data []byte) error {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = dir.Sync() // some systems cannot
	return dir.Close()
}

// Get opens a file.
func (d Dir) Get(_ context.Context, name string) (io.ReadCloser, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.Open(filepath.Join(string(d), filepath.FromSlash(name)))
}
