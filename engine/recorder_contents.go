package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
)

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

// bounded returns a [FileError] if files are beyond the bounds of an input.
func bounded(files []pawl.File) error {
	if len(files) > MaxFiles {
		return &FileError{fileName(files[MaxFiles]), fmt.Errorf("an input has at most %d files, not %d", MaxFiles, len(files))}
	}
	size := 0
	for _, f := range files {
		if size += f.Bytes; size > MaxFileBytes {
			return &FileError{fileName(f), fmt.Errorf("the files have more than %d MiB together", MaxFileBytes>>20)}
		}
	}
	return nil
}

func fileName(f pawl.File) string { return cmp.Or(f.Name, "without a name") }
