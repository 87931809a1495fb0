package memory

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// A blob is large data, with the time when it was last stored.
type blob struct {
	data   []byte
	stored time.Time
}

// PutBlob stores data under its digest; see [pawl.Blobs].
func (j *Journal) PutBlob(ctx context.Context, digest string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b, ok := j.blobs[digest]
	if !ok {
		b.data = bytes.Clone(data)
	}
	b.stored = time.Now()
	if j.blobs == nil {
		j.blobs = make(map[string]blob)
	}
	j.blobs[digest] = b
	return nil
}

// Blob returns a copy of stored data; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	b, ok := j.blobs[digest]
	j.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob)
	}
	return bytes.Clone(b.data), nil
}
