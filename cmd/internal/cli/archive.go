package cli

import (
	"context"
	"io"
	"os"
	"path"
	"strings"

	"github.com/pawl-run/pawl/cmd/internal/s3"
	"github.com/pawl-run/pawl/engine/archive"
)

// archive is the store of exports that a flag names: a bucket or a directory; empty: none.
func (a *app) archive(at string) (archive.Store, error) {
	switch {
	case at == "":
		return nil, nil
	case !inBucket(at):
		return archive.Dir(at), nil
	}
	b, err := s3.Open(at, a.getenv)
	if err != nil {
		return nil, misuse("--archive: %w", err)
	}
	return b, nil
}

func inBucket(name string) bool { return strings.HasPrefix(name, "s3://") }

// exported opens an export: a file, an object of a bucket, or - for standard input.
func (a *app) exported(ctx context.Context, name string) (io.ReadCloser, error) {
	switch {
	case name == "-":
		return io.NopCloser(a.in), nil
	case !inBucket(name):
		return os.Open(name)
	}
	b, err := s3.Open(strings.TrimSuffix(name, path.Base(name)), a.getenv)
	if err != nil {
		return nil, err
	}
	return b.Get(ctx, path.Base(name))
}
