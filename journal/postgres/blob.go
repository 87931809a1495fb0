package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// PutBlob stores data; see [pawl.Blobs]. It fails if the data does not have the digest, or
// has more than 64 MB.
func (j *Journal) PutBlob(ctx context.Context, digest string, data []byte) error {
	key, err := shared.CheckBlob(digest, data)
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte{} // nil is NULL
	}
	return j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		_, err := c.Exec(ctx, `INSERT INTO blobs (digest, data) VALUES ($1, $2) ON CONFLICT (digest) DO UPDATE SET stored = clock_timestamp()`, key, data)
		return nil, err
	})
}

// Blob returns what PutBlob stored; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	key, err := hex.DecodeString(digest)
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", digest, pawl.ErrUnknownBlob)
	}
	var data []byte
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		err := c.QueryRow(ctx, `SELECT data FROM blobs WHERE digest = $1`, key).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob), nil
		}
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(key) {
		return nil, j.err(fmt.Errorf("blob %s is damaged", digest))
	}
	return data, nil
}
