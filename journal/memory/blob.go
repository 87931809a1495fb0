package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
)

// PutBlob keeps data under its digest; see [pawl.Blobs].
func (j *Journal) PutBlob(ctx context.Context, digest string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.blobs[digest]; ok {
		return nil
	}
	if j.blobs == nil {
		j.blobs = make(map[string][]byte)
	}
	j.blobs[digest] = bytes.Clone(data)
	return nil
}

// Blob returns a copy of what PutBlob kept; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	data, ok := j.blobs[digest]
	j.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob)
	}
	return bytes.Clone(data), nil
}
