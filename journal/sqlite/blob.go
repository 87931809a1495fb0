package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

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
	return j.write(ctx, func(w *writer) (refusal, broken error) {
		if err := w.exec(`INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING`, key, data); err != nil {
			return nil, err
		}
		return nil, w.exec(`INSERT INTO stored (blob, time) SELECT ref, ? FROM blobs WHERE digest = ? ON CONFLICT DO UPDATE SET time = excluded.time`, time.Now(), key)
	})
}

// Blob returns what PutBlob stored; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	key, err := hex.DecodeString(digest)
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", digest, pawl.ErrUnknownBlob)
	}
	var data []byte
	found := false
	err = j.pool.read(ctx, func(r *reader) (err error) {
		found, err = r.first(`SELECT data FROM blobs WHERE digest = ?`, func(s *sqlite3.Stmt) { data = s.ColumnBlob(0, nil) }, key)
		return err
	})
	if err != nil {
		return nil, j.err(err)
	}
	if !found {
		return nil, fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob)
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(key) {
		return nil, j.err(fmt.Errorf("blob %s is damaged: its digest is %x; %s", digest, sum, restore))
	}
	return data, nil
}
